import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { ListAnswer } from '../../src/inspector/contract/exchange-list.ts';
import type { NowAnswer } from '../../src/inspector/contract/now.ts';
import { startInspected } from '../kit/inspector.ts';

const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
});

test('waiting for a slot at a provider is a part of its own', async () => {
  const waiting: ServerResponse[] = [];
  const host = createServer((request, response) => {
    request.resume();
    waiting.push(response);
    host.emit('asked');
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const { port } = host.address() as AddressInfo;
  const gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "http://127.0.0.1:${port}/v1", connections: 1 } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
  const release = () => waiting.shift()?.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  const ask = async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.headers.get('x-request-id');
  };
  try {
    const first = ask();
    await once(host, 'asked');
    const second = ask();
    await expect
      .poll(async () => ((await gateway.api('now')) as NowAnswer).breakers[0]?.queued, { timeout: 10_000 })
      .toBe(1);
    const asked = once(host, 'asked');
    release();
    await asked;
    release();
    const [quick, queued] = await Promise.all([first, second]);

    const { rows } = (await gateway.api('exchanges')) as ListAnswer;
    const timesOf = (id: string | null) => rows.find((row) => row.id === id)?.times;
    expect(Object.keys(timesOf(quick) ?? {})).toEqual(['read', 'decide', 'connect', 'first_byte', 'stream']);
    expect(Object.keys(timesOf(queued) ?? {})).toEqual([
      'read',
      'decide',
      'queue',
      'connect',
      'first_byte',
      'stream',
    ]);
    expect(timesOf(queued)?.queue).toBeGreaterThan(0);
  } finally {
    await gateway.stop();
    host.close();
    host.closeAllConnections();
  }
});
