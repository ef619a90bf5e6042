// A gateway of this checkout in front of a host of this process, whose CPU time is read between streams.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

/** A host that answers with the pieces that `answer` gives for a request, each in a turn of the loop of its own. */
export async function startStreams(answer) {
  const host = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { type, pieces } = answer({ url: request.url, body });
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${host.address().port}`, close: () => host.close() };
}

/** The program with a configuration and its variables: `url` is where it listens, `ask` reads a whole answer, `cpu` is in nanoseconds so far. */
export async function startMeasured(yaml, environment) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, yaml, { mode: 0o600 });
  const program = new URL('../bin/gateway.js', import.meta.url).pathname;
  const gateway = spawn(process.execPath, [program, 'serve', '-c', file, '--port', '0'], {
    env: { PATH: process.env.PATH, HOME: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk) => {
      text += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    };
    gateway.stdout.on('data', look);
    gateway.stderr.on('data', look);
    gateway.on('exit', () => reject(new Error(text)));
  });
  const agent = new http.Agent({ keepAlive: true });
  const ask = (path, key, body) =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const request = http.request(url + path, { method: 'POST', agent, headers }, (response) => {
        let firstMs;
        let text = '';
        response.on('data', (chunk) => {
          firstMs ??= performance.now() - start;
          text += chunk;
        });
        response.on('end', () =>
          response.statusCode === 200 ? resolve({ firstMs, text }) : reject(new Error(text)),
        );
      });
      request.on('error', reject);
      request.end(JSON.stringify(body));
    });
  return {
    url,
    ask,
    /** Of its main thread. */
    cpu: () => Number(readFileSync(`/proc/${gateway.pid}/schedstat`, 'utf8').split(' ')[0]),
    stop() {
      gateway.kill();
      agent.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}
