import { expect, test } from 'vitest';
import type { Bodies, Body, ShownEvent } from '../../src/inspector/contract/exchange-detail.ts';
import { startHost } from '../kit/host.ts';
import { startInspected } from '../kit/inspector.ts';
import { chatChunk } from '../kit/stream-events.ts';

const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chatChunk(delta) })}\n\n`;

/** The bodies of an exchange with a host that says what it makes of the text that it gets. */
async function bodiesOf(
  rule: string,
  { text, say, stream, deltas = (content) => [{ content }] }: Asked,
): Promise<Partial<Bodies>> {
  const host = await startHost((response, { body }) => {
    const content = say(JSON.parse(body.toString()).messages[0].content);
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    if (stream) return response.end(`${deltas(content).map(chunk).join('')}data: [DONE]\n\n`);
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    return response.end(
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }),
    );
  });
  const gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "*", provider: host }]
records: { bodies: true }
policies: { house: { apply: all, rules: [${rule}] } }
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
  return (await gateway.detail(await gateway.say(text, { model: 'm', stream }))).bodies ?? {};
}

interface Asked {
  readonly text: string;
  readonly stream: boolean;
  readonly say: (text: string) => string;
  /** How it says so in a stream. */
  readonly deltas?: (text: string) => readonly object[];
}

const eventMarksOf = ({ data, marks = [] }: ShownEvent) => marksOf({ text: data, marks });
const marksOf = ({ text = '', marks = [] }: Partial<Pick<Body, 'text' | 'marks'>> = {}) =>
  marks.map(({ kind, rule, start, end }) => `${kind} ${rule}: ${text.slice(start, end)}`);

const forms = [
  ['whole', false],
  ['streamed', true],
] as const;

test.each(forms)('what was replaced in an answer is marked: %s', async (_, stream) => {
  const rule =
    '{ id: no-mail, action: redact, reason: data.email, apply_to: [response], when: { text: { detect: [email] } } }';

  const { answer } = await bodiesOf(rule, {
    text: 'Whom do I write to?',
    say: () => 'Write to bob@penguin-mail.com, please.',
    stream,
  });

  expect(answer?.text).not.toContain('penguin');
  expect(marksOf(answer)).toEqual(['redacted no-mail: [REDACTED:data.email]']);
});

test.each(forms)('what was masked is marked on both sides: %s', async (_, stream) => {
  const rule = `{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }`;

  const {
    received,
    sent,
    answer,
    answer_parts: parts,
  } = await bodiesOf(rule, {
    text: 'write to «Ann "A" Muster»',
    say: (text) => `I wrote: ${text}`,
    stream,
  });

  const value = '«Ann \\"A\\" Muster»';
  expect(marksOf(received)).toEqual([`match names: ${value}`]);
  expect(marksOf(sent)).toEqual([expect.stringMatching(/^redacted names: CUSTOMER_[A-Z]{13}$/)]);
  expect(marksOf(answer)).toEqual([`restored names: ${value}`]);
  expect(parts?.map(marksOf)).toEqual(stream ? [['restored names: «Ann "A" Muster»']] : undefined);
});

test('event by event, each value is marked where it came back, and what stayed masked as what left', async () => {
  const rule = `{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }`;

  const { events = [] } = await bodiesOf(rule, {
    text: '«Ann "A" Muster», «B»',
    say: (text) => text,
    stream: true,
    deltas: (said) => [
      ...[...said].map((content) => ({ content })),
      // May be signed by what comes later.
      { reasoning_details: [{ type: 'reasoning.text', text: said.slice(0, 22), index: 0 }] },
    ],
  });

  expect(events.flatMap(eventMarksOf)).toEqual([
    'restored names: «Ann \\"A\\" Muster»',
    'restored names: «B»',
    expect.stringMatching(/^redacted names: CUSTOMER_[A-Z]{13}$/),
  ]);
});
