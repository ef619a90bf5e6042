// What a stream costs with everything that may happen to it: translated, values restored, and a rule on answers, against
// the same text relayed by the same gateway. CPU time of the main thread per event.
import { median, startMeasured, startStreams } from './measured-gateway.mjs';

const events = 400;
const streams = 20;
const words = ['and ', 'then ', 'the ', 'module '];
const sse = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const chunk = (content) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const asMessages = (texts) => [
  sse({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 20, output_tokens: 1 },
    },
  }),
  sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...texts.map((text) => sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  sse({ type: 'content_block_stop', index: 0 }),
  sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 400 } }),
  sse({ type: 'message_stop' }),
];

/** CPU microseconds per event, by what happens to the stream. */
export async function measureStages({ options, say }) {
  say('stages');
  const texts = Array.from({ length: events }, (_, at) => words[at % words.length]);
  const host = await startStreams(({ url, body }) => {
    const value = /EMAIL_[A-Z]{13}/.exec(body)?.[0] ?? 'ann@example.com';
    const said = texts.with(40, `${value} `);
    const pieces = url.endsWith('/messages') ? asMessages(said) : [...said.map(chunk), 'data: [DONE]\n\n'];
    return { type: 'text/event-stream', pieces };
  });
  const keys = { relayed: 'plain-key-0123456789abcdef', all: 'every-key-0123456789abcdef' };
  const gateway = await startMeasured(
    `providers:
  chat: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${K}" }
  messages: { dialect: anthropic, base_url: "${host.url}", api_key: "\${K}" }
models: [{ match: relayed, provider: chat }, { match: all, provider: messages }]
server: { port: 0 }
policies:
  small: { rules: [{ id: w, action: warn, when: { text: { detect: [email] } } }] }
  all:
    rules:
      - { id: mask, action: mask, when: { text: { detect: [email] } } }
      - { id: answers, action: redact, apply_to: [response], when: { text: { phrases: [project nightfall], regex: ['TCK-\\d{6}'] } } }
projects:
  relayed: { policies: [small], keys: [{ id: relayed, value: "\${RELAYED}" }] }
  all: { policies: [all], keys: [{ id: all, value: "\${ALL}" }] }
plants: { store: { enabled: false } }
`,
    { K: 'provider-key-0123456789', RELAYED: keys.relayed, ALL: keys.all },
  );
  const ask = (kind) =>
    gateway.ask('/v1/chat/completions', keys[kind], {
      model: kind,
      stream: true,
      messages: [{ role: 'user', content: 'mail ann@example.com' }],
    });
  for (const kind of Object.keys(keys)) {
    const { text } = await ask(kind);
    if (!text.includes('ann@example.com')) throw new Error(`${kind}: the address was not restored`);
  }
  const used = { relayed: [], all: [] };
  for (let round = -1; round < (options.isQuick ? 5 : 24); round += 1)
    for (const kind of Object.keys(keys)) {
      const before = gateway.cpu();
      await Promise.all(Array.from({ length: streams }, () => ask(kind)));
      if (round >= 0) used[kind].push((gateway.cpu() - before) / 1_000 / events / streams);
    }
  gateway.stop();
  host.close();
  return { relayed: median(used.relayed), all: median(used.all) };
}
