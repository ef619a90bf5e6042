import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeAuthority } from '../kit/certificate.ts';
import { projects, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { freePort, untilListening } from '../kit/ports.ts';
import { root } from './parts.ts';

// The configurations of docs/reverse-proxy.md, as they are there: only addresses and files are others.

const page = readFileSync(join(root, 'docs', 'reverse-proxy.md'), 'utf8');
const name = 'llm.example.org';
const authority = makeAuthority('reverse proxy');
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function blockUnder(heading: string, language: string): string {
  const section = page.slice(page.indexOf(heading));
  const [, block] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section) ?? [];
  if (block === undefined) throw new Error(`no ${language} block under ${heading}`);
  return block;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly gatewayPort: number;
}

const proxies = {
  nginx: ({ folder, port, gatewayPort }: Place) => {
    const server = blockUnder('## nginx', 'nginx')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('/etc/ssl/llm.example.org.pem', join(folder, 'cert.pem'))
      .replace('/etc/ssl/private/llm.example.org.key', join(folder, 'key.pem'))
      .replace('127.0.0.1:4100', `127.0.0.1:${gatewayPort}`);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
      .join(' ');
    writeFileSync(
      join(folder, 'nginx.conf'),
      `pid ${join(folder, 'pid')}; error_log stderr warn; events {}\nhttp { access_log off; ${paths}\n${server}}\n`,
    );
    const user = process.getuid?.() === 0 ? 'user root; ' : '';
    return ['nginx', '-c', join(folder, 'nginx.conf'), '-g', `${user}daemon off;`];
  },
  caddy: ({ folder, port, gatewayPort }: Place) => {
    const site = blockUnder('## Caddy', 'text')
      .replace(
        'llm.example.org {',
        `https://llm.example.org:${port} {\n  tls ${folder}/cert.pem ${folder}/key.pem`,
      )
      .replace('127.0.0.1:4100', `127.0.0.1:${gatewayPort}`);
    writeFileSync(join(folder, 'Caddyfile'), `{\n  admin off\n  auto_https off\n}\n${site}`);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  },
} as const;

/** The gateway behind a proxy, and the provider behind the gateway. */
async function startBehind(proxy: keyof typeof proxies) {
  const host = await startHost((response) => response.end());
  const gateway = await startGateway(`${blockUnder('In `gateway.yaml`', 'yaml')}
providers: { host: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${PROVIDER_KEY}" } }
models: [{ match: "*", provider: host }]
${projects}`);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-proxy-'));
  const port = await freePort();
  const identity = authority.issue([name]);
  writeFileSync(join(folder, 'cert.pem'), identity.cert);
  writeFileSync(join(folder, 'key.pem'), identity.key);
  const [program = '', ...argv] = proxies[proxy]({ folder, port, gatewayPort: gateway.port });
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, argv, { stdio: 'ignore', env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closing.push(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await untilListening(port);
  const send = (path: string, body?: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        host: name,
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
      };
      const method = body === undefined ? 'GET' : 'POST';
      const { cert: ca } = authority;
      request({ host: '127.0.0.1', port, path, method, servername: name, ca, headers, agent: false }, resolve)
        .on('error', reject)
        .end(body);
    });
  return { host, send };
}

const chat = (content: string, more: object = {}) =>
  JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content }], ...more });

test.for(Object.keys(proxies) as (keyof typeof proxies)[])(
  '%s as in the guide passes bodies, answers and events on, and no page',
  { timeout: 60_000 },
  async (proxy, { skip }) => {
    if (spawnSync(proxy, [proxy === 'caddy' ? 'version' : '-v']).status !== 0)
      skip(`${proxy} is not installed`);
    const { host, send } = await startBehind(proxy);

    const large = chat('water lily '.repeat(750_000));
    const answer = '{"id":"1",  "object":"chat.completion","choices":[],"n":12345678901234567890}';
    host.script((response) => response.setHeader('content-type', 'application/json').end(answer));
    const whole = await readText(await send('/v1/chat/completions', large));

    const [first, last] = ['data: {"id":"1","choices":[]}\n\n', 'data: [DONE]\n\n'];
    let finish: () => void = () => undefined;
    host.script((response) => {
      response.setHeader('content-type', 'text/event-stream').write(first);
      finish = () => response.end(last);
    });
    const stream = await send('/v1/chat/completions', chat('hello', { stream: true }));
    const [beginning] = (await once(stream, 'data')) as [Buffer];
    finish();
    const rest = await readText(stream);
    const livePage = await send('/_/');

    expect(large.length).toBeGreaterThan(8_000_000);
    expect(host.requests[0]?.body.equals(Buffer.from(large))).toBe(true);
    expect(whole).toBe(answer);
    expect(beginning.toString()).toBe(first);
    expect(rest).toBe(last);
    expect(livePage.resume().statusCode).toBe(404);
  },
);

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
