// What masking costs a stream through the whole gateway: CPU of its process per event, and the time to the first byte,
// of answers to the same request with a key whose policy masks and with one whose policy does not; in turns. After
// npm run build: node bench/mask-streams.mjs; a section of npm run bench too.

import { median, startMeasured, startStreams } from './measured-gateway.mjs';

const events = 400;
const streams = 20;
const words = ['and ', 'then ', 'the ', 'module '];
const frame = (content) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** The least of ten: what a busy machine adds is in the others. */
const low = (list) => list.toSorted((one, other) => one - other)[Math.floor(list.length / 10)];

/** CPU microseconds per event, and milliseconds to the first byte, without and with masking. */
export async function measureMaskedStreams(rounds = 24) {
  /** At each fortieth event five begin a value of the request. */
  const host = await startStreams(({ body }) => {
    const [value = 'ann@example.com'] = /EMAIL_[A-Z]{13}|ann@example\.com/.exec(body) ?? [];
    const isShort = body.includes('shortly');
    const pieces = Array.from({ length: isShort ? 2 : events }, (_, at) => words[at % 4]);
    if (body.includes('with values'))
      // Not at once: the first byte of an answer that begins with a placeholder waits for the end of that.
      for (let at = 1; at + 5 < events; at += 40)
        pieces.splice(at, 5, ...(value.match(/.{1,4}/g) ?? []).slice(0, 5));
    return { type: 'text/event-stream', pieces: [...pieces.map(frame), 'data: [DONE]\n\n'] };
  });
  const keys = { none: 'plain-key-0123456789abcdef', mask: 'masked-key-0123456789abcdef' };
  const gateway = await startMeasured(
    `providers: { o: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${K}" } }
models: [{ match: "*", provider: o }]
server: { port: 0 }
policies:
  masking: { rules: [{ id: m, action: mask, when: { text: { detect: [email] } } }] }
  warning: { rules: [{ id: w, action: warn, when: { text: { detect: [email] } } }] }
projects:
  mask: { policies: [masking], keys: [{ id: mask, value: "\${MASKED}" }] }
  none: { policies: [warning], keys: [{ id: none, value: "\${PLAIN}" }] }
plants: { store: { enabled: false } }
`,
    { K: 'provider-key-0123456789', PLAIN: keys.none, MASKED: keys.mask },
  );
  const ask = (key, content) =>
    gateway.ask('/v1/chat/completions', key, {
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content }],
    });

  const rows = [];
  const asked = { 'no value': 'mail ann@example.com', 'a value each 40': 'mail ann@example.com with values' };
  for (const [name, text] of Object.entries(asked)) {
    const used = { none: [], mask: [] };
    const firsts = { none: [], mask: [] };
    for (let round = 0; round <= rounds; round += 1)
      for (const [policy, key] of Object.entries(keys)) {
        const before = gateway.cpu();
        await Promise.all(Array.from({ length: streams }, () => ask(key, text)));
        if (round > 0) used[policy].push((gateway.cpu() - before) / 1_000);
      }
    for (let count = 0; count < 800; count += 1)
      for (const [policy, key] of Object.entries(keys))
        firsts[policy].push((await ask(key, `${text} shortly`)).firstMs);
    const perEvent = (policy) => median(used[policy]) / events / streams;
    const of = (figure) => ({ base: figure('none'), masked: figure('mask') });
    rows.push({ name, cpu: of(perEvent), first: of((policy) => low(firsts[policy])) });
  }
  gateway.stop();
  host.close();
  return rows;
}

if (import.meta.filename === process.argv[1]) {
  for (const { name, cpu, first } of await measureMaskedStreams())
    console.log(
      `${name.padEnd(34)} CPU per event: ${cpu.base.toFixed(2)} µs, ${cpu.masked.toFixed(2)} µs masked, ${(cpu.masked / cpu.base).toFixed(3)}; first byte ${first.base.toFixed(2)} ms, ${first.masked.toFixed(2)} ms`,
    );
}
