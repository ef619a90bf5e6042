import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { writeState } from '../../src/client/state.ts';
import { command, emptyDirectory } from '../kit/command.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Somebody else, who has the ports of a gateway that died, and what was sent there. */
async function stranger(): Promise<{ url: string; received: string[] }> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"token":"t","expiresIn":3600}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

test.each([
  ['a password', ['login', '-u', 'ada', '--password-stdin'], {}],
  ['a token', ['plants', 'get', '1'], { PLANTS_TOKEN: 'secret-token' }],
])('%s does not go to whoever has the port of a gateway that is dead', async (_what, argv, env) => {
  const { url, received } = await stranger();
  const home = emptyDirectory();
  const state = { XDG_STATE_HOME: home, ...env };
  writeState(state, 'running.json', {
    url,
    pid: process.pid,
    proof: { challenge: 'c', answer: 'a' },
    plants_url: `${url}/v3`,
  });

  const { exit, stderr } = await command(argv, { env: state, stdin: 'secret-password' });

  expect(exit).toBe(8);
  expect(stderr).toContain('the gateway that started the plant store is gone');
  expect(received.join('\n')).not.toContain('secret');
});
