import { expect, test } from 'vitest';
import { messagesEvents, responsesEvents } from '../kit/answers.ts';
import { post, startGateway } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';

// A host that says its first event, and nothing more until a sign of life has reached the client: none of the bytes that
// pass unchanged gets one unless the configuration asks for it.
let goOn = () => {};
const silent =
  (events: readonly string[]): Script =>
  (response) => {
    const [first = '', ...rest] = events;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Its end comes with the rest, so that nothing may stand in between.
    response.write(first.slice(0, -1));
    goOn = () => response.end(first.slice(-1) + rest.join(''));
  };
const host = await startHost(silent(messagesEvents));
const gateway = await startGateway(`
providers:
  claude: { dialect: anthropic, base_url: "${host.url}", heartbeat: 1s }
  gpt: { dialect: openai, base_url: "${host.url}/v1", endpoints: [responses], heartbeat: 1s }
models: [{ match: m, provider: claude }, { match: r, provider: gpt }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

const hello = [{ role: 'user', content: 'hi' }];

test.each([
  [
    'messages',
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: hello },
    messagesEvents,
    'event: ping\ndata: {"type":"ping"}\n\n',
  ],
  // Nothing whole has come, and OpenAI's SDK takes no other first event than its own.
  ['responses', '/v1/responses', { model: 'r', input: hello }, responsesEvents, ': ping\n\n'],
])(
  'a silent host of %s: signs between whole events, which count for nothing',
  async (_name, path, body, events, sign) => {
    host.script(silent(events));

    const answer = await post(gateway, path, { ...body, stream: true });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      if (text === '') goOn();
      text += value;
    }

    expect(text.startsWith(sign) || text.startsWith(': ping\n\n')).toBe(true);
    const signs = /^(?:event: ping\ndata: \{"type":"ping"\}\n\n|: ping\n\n)+/;
    expect(text.replace(signs, '')).toBe(events.join(''));
  },
);
