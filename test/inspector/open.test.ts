import { beforeAll, expect, test } from 'vitest';
import { projects } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';
import { type InspectedGateway, startInspected } from '../kit/inspector.ts';

let gateway: InspectedGateway;
let host: ScriptedHost;
let release = () => undefined as unknown;

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

beforeAll(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  host = await startHost(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('so far'));
    await released;
    response.end(`${chunk(', and on')}data: [DONE]\n\n`);
  });
  gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "*", provider: host }]
records: { bodies: true }
${projects}`);
});

test('an answer that is still being streamed is shown as far as it is', async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  const id = response.headers.get('x-request-id') ?? '';
  const detail = () => gateway.detail(id);

  const open = await detail();
  release();
  while ((await reader?.read())?.done === false);
  await expect.poll(async () => (await detail()).row.state).toBe('finished');
  const ended = await detail();

  expect(open.row.state).toBe('open');
  expect(open.bodies?.answer_parts).toEqual([{ kind: 'text', text: 'so far' }]);
  expect(open.answer_headers).toContainEqual({
    name: 'content-type',
    sent: 'text/event-stream',
    hidden: false,
  });
  expect(ended.bodies?.answer_parts).toEqual([{ kind: 'text', text: 'so far, and on' }]);
});
