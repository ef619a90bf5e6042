import { expect, test } from 'vitest';
import { post, projects, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

// A conversation whose host changes between turns: what another host thought is not sent to the vendor of the dialect.

const chat = await startHost((response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Hi.', reasoning_content: 'A greeting.' },
        },
      ],
    }),
  ),
);
const vendor = await startHost((response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      ...{
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Hm.' }],
      },
      ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    }),
  ),
);
const gateway = await startGateway(`
providers:
  chat: { dialect: openai, host: deepseek, base_url: "${chat.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat] }
  vendor: { dialect: anthropic, base_url: "${vendor.url}", api_key: "\${PROVIDER_KEY}" }
models: [{ match: "deepseek*", provider: chat }, { match: "claude*", provider: vendor }]
${projects}`);

test('a thought of DeepSeek is cut from what goes to Claude, and nothing else', async () => {
  const hello = { role: 'user', content: 'hello' };
  const first = { model: 'deepseek-v4-pro', max_tokens: 100, messages: [hello] };

  const { content } = (await (await post(gateway, '/v1/messages', first)).json()) as { content: object[] };
  const messages = [
    hello,
    { role: 'assistant', content },
    { role: 'user', content: 'and 2^53+1: 9007199254740993' },
  ];
  const again = await post(gateway, '/v1/messages', { ...first, model: 'claude-opus-5', messages });

  expect(content).toMatchObject([{ type: 'thinking', thinking: 'A greeting.' }, { text: 'Hi.' }]);
  expect([again.status, again.headers.get('x-gateway-body')]).toEqual([200, 'spliced']);
  expect(JSON.parse(String(vendor.requests[0]?.body))).toEqual({
    ...first,
    model: 'claude-opus-5',
    messages: [hello, { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }, messages[2]],
  });
});
