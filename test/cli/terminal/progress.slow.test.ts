import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directoryWith, homeWith, withoutStore } from '../../kit/command.ts';
import { startHost } from '../../kit/host.ts';
import { startTerminal } from '../../kit/terminal.ts';

const policies = `policies: { all: { apply: all, rules: [{ id: a, action: block, when: { text: { phrases: ["nightfall"] } }, reason: content.a }] } }
${withoutStore}`;

const recorded = (content: string) => {
  const request_body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const about = { time: '2026-11-28T12:00:00.000Z', key: 'local', endpoint: 'chat', model: 'm' };
  return `${JSON.stringify({ request_id: 'req_1', ...about, decision: 'allow', request_body })}\n`;
};

test('policy replay counts while it waits for its file, and its result stands alone', async () => {
  const home = directoryWith(policies);
  const file = join(home, 'records.jsonl');
  execFileSync('mkfifo', [file]);
  const terminal = startTerminal(['policy', 'replay', file], { home, env: { NO_COLOR: '1' } });
  const records = await open(file, 'w');

  await records.write(recorded('hello') + recorded('nightfall'));
  await terminal.shows('replayed 2 requests, 1 decided differently');
  await records.write(recorded('hello again'));
  await terminal.shows('replayed 3 requests, 1 decided differently');
  await records.close();

  expect((await terminal.ended).exit).toBe(1);
  expect(terminal.screen()).toMatch(
    /^2026-11-28\S+ req_1 local chat {2}allow -> block a \(content\.a\) at\s\/messages\/0\/content\n3 requests: 2 as then, 1 otherwise \(1 allow -> block\)\ngateway: 1 of 3 requests would be decided differently$/,
  );
});

test('embed counts the inputs that are done', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const host = await startHost(async (response, { body }) => {
    const { input } = JSON.parse(String(body)) as { input: readonly string[] };
    if (host.requests.length > 1) await held;
    const data = input.map((_text, index) => ({ object: 'embedding', index, embedding: [0.5] }));
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_1' })
      .end(JSON.stringify({ model: 'm', data }));
  });
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\n');
  const home = homeWith({ 'lines.txt': lines });
  const env = { GATEWAY_URL: host.url, GATEWAY_KEY: 'k', NO_COLOR: '1' };
  const terminal = startTerminal(['embed', '-m', 'm', '--lines', '-f', 'lines.txt'], { home, env });

  await terminal.shows('waiting for m: 128 of 200 inputs');
  release();

  expect((await terminal.ended).exit).toBe(0);
  expect(terminal.screen()).toMatch(/^INPUT +DIMENSIONS +BEGINS\n/);
});
