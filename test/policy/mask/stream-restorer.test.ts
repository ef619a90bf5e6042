import { describe, expect, test } from 'vitest';
import { type Form, formShapes, wordForm } from '../../../src/policy/mask/forms.ts';
import { collectValues } from '../../../src/policy/mask/masked-values.ts';
import { Placeholders } from '../../../src/policy/mask/placeholders.ts';
import { Restorer } from '../../../src/policy/mask/restorer.ts';
import { StreamRestorer } from '../../../src/policy/mask/stream-restorer.ts';
import { growth } from '../../kit/growth.ts';
import { blockDelta, blockStart, blockStop, chatChunk, textDelta } from '../../kit/stream-events.ts';
import { eventsOf } from '../streams.ts';

const placeholders = new Placeholders('a secret of this installation', [
  ...['EMAIL', 'HIDDEN', 'PRIVATE_KEY'].map(wordForm),
  ...formShapes,
]);
const hidden = wordForm('HIDDEN');
const values = {
  plain: 'ann@example.com',
  short: 'x',
  quoted: 'a"b\\c',
  lines: '-----BEGIN\n\tKEY\r\n-----END\u0000',
  wide: 'naïve 🌿 пароль',
  long: 'k'.repeat(100_000),
  'like a placeholder': 'EMAIL_ABCDEFGHIJKLM',
};

interface Channel {
  readonly frame: (text: string) => object;
  readonly end: object;
  /** Whether the text is JSON. */
  readonly isInput?: true;
}

/** The deltas of an item of responses. */
const ofResponses = (type: string, more: object = {}): Channel => ({
  frame: (delta) => ({ type: `response.${type}.delta`, output_index: 0, ...more, delta }),
  end: { type: 'response.output_item.done', output_index: 0, item: {} },
});
const ofChat = (frame: (text: string) => object): Channel => ({
  frame: (text) => chatChunk(frame(text)),
  end: chatChunk({}, 'stop'),
});

const text: Channel = { frame: (text) => textDelta(0, text), end: blockStop(0) };
const channels: Readonly<Record<string, Channel>> = {
  'messages, text': text,
  'messages, input': {
    frame: (partial_json) => blockDelta(1, { type: 'input_json_delta', partial_json }),
    end: blockStop(1),
    isInput: true,
  },
  'chat, content': ofChat((content) => ({ content })),
  'chat, arguments': {
    frame: (text) => chatChunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    end: chatChunk({}, 'tool_calls'),
    isInput: true,
  },
  'responses, text': ofResponses('output_text', { content_index: 0 }),
  'chat, refusal': ofChat((refusal) => ({ refusal })),
  'chat, reasoning': ofChat((reasoning_content) => ({ reasoning_content })),
  'chat, summary of reasoning details': ofChat((summary) => ({
    reasoning_details: [{ type: 'reasoning.summary', summary, index: 0 }],
  })),
  'responses, refusal': ofResponses('refusal', { content_index: 0 }),
  'responses, reasoning summary': ofResponses('reasoning_summary_text', { summary_index: 0 }),
  'responses, custom tool': ofResponses('custom_tool_call_input'),
  'chat, a finish reason on each': {
    frame: (content) => chatChunk({ content }, 'stop'),
    end: chatChunk({}, 'stop'),
  },
  'gemini, a finish reason on each': {
    frame: (text) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP', index: 0 }] }),
    end: { candidates: [{ content: { parts: [] }, finishReason: 'STOP', index: 0 }] },
  },
  'gemini, arguments in pieces': {
    frame: (stringValue) => ({
      candidates: [
        { content: { parts: [{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue }] } }] } },
      ],
    }),
    end: { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
  },
  'gemini, code': {
    frame: (code) => ({ candidates: [{ content: { parts: [{ executableCode: { code } }] } }] }),
    end: { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
  },
  'gemini, text': {
    frame: (text) => ({ candidates: [{ content: { parts: [{ text }] }, index: 0 }] }),
    end: { candidates: [{ content: { parts: [] }, finishReason: 'STOP', index: 0 }] },
  },
};

/** What stands in an event where a frame has its text. */
function textIn(event: unknown, frame: unknown): string | undefined {
  if (frame === 'the text') return event as string | undefined;
  if (typeof frame !== 'object' || frame === null) return undefined;
  return Object.entries(frame)
    .map(([name, inner]) => textIn((event as Record<string, unknown> | undefined)?.[name], inner))
    .find((found) => found !== undefined);
}

interface Passed {
  readonly text: string;
  /** The most characters that were held at any time. */
  readonly held: number;
  readonly restorer: Restorer;
}

function pass(
  { frame, end }: Channel,
  pieces: readonly string[],
  value: string,
  form: Form = hidden,
): Passed {
  const restorer = new Restorer(collectValues(new Map([[placeholders.of(form, value), value]])));
  const stream = new StreamRestorer(restorer);
  const events = eventsOf([...pieces.map(frame), end]);
  let text = '';
  let held = 0;
  let given = 0;
  let taken = 0;
  for (const [at, event] of events.entries()) {
    given += pieces[at]?.length ?? 0;
    for (const out of stream.push([event])) {
      text += textIn(JSON.parse(out.written), frame('the text')) ?? '';
      taken += pieces[events.indexOf(out)]?.length ?? 0;
    }
    held = Math.max(held, given - taken);
  }
  expect(stream.end()).toEqual([]);
  return { text, held, restorer };
}

const cases: readonly (readonly [kind: string, value: string, form: Form])[] = [
  ...Object.entries(values).map(([kind, value]) => [kind, value, hidden] as const),
  ...formShapes.map((form) => [`a placeholder that begins with ${form.head}`, values.quoted, form] as const),
];

describe.each(Object.entries(channels))('in %s', (_name, channel) => {
  test.each(cases)('a value comes back wherever its placeholder is split: %s', (_kind, value, form) => {
    const placeholder = placeholders.of(form, value);
    const [before, after] = form === hidden ? ['E (', ') H'] : ['9 ', '0 X'];
    const wrap = (inner: string) =>
      channel.isInput
        ? JSON.stringify({ a: [`${before}${inner}${after}`], b: 'HIDDEN_ 99 +X' })
        : `${before}${inner}${after}`;
    const text = wrap(placeholder);
    const start = text.indexOf(placeholder);
    const splits = Array.from({ length: placeholder.length + 1 }, (_, at) => [
      text.slice(0, start + at),
      text.slice(start + at),
    ]);

    for (const pieces of [[...text], ...splits]) {
      const { text: got, held, restorer } = pass(channel, pieces, value, form);
      expect(got).toBe(wrap(value));
      expect(restorer.counts).toEqual({ restored: { [form.kind]: 1 } });
      if (pieces.length > 2) expect(held).toBeLessThan(placeholder.length);
    }
  });
});

test.each(formShapes)(
  'a placeholder that begins with $head comes back right behind what looks like one',
  (form) => {
    const all = new Map(formShapes.map((each) => [placeholders.of(each, each.head), `(${each.head})`]));
    const placeholder = placeholders.of(form, form.head);
    const value = `(${form.head})`;
    const heads = formShapes.filter(({ kind }) => kind !== 'EMAIL').map(({ head }) => head);
    for (const before of ['9', '99', '0', form.head, ...heads, ...heads.map((head) => `${head}0123`)]) {
      const restorer = new Restorer(collectValues(all));
      expect(restorer.text(`at ${before}${placeholder}!`)).toBe(`at ${before}${value}!`);
      for (const pieces of [[before, placeholder, '!'], [...`${before}${placeholder}!`]]) {
        const stream = new StreamRestorer(restorer);
        const events = eventsOf(pieces.map((piece) => text.frame(piece)));
        const out = [...events.flatMap((event) => stream.push([event])), ...stream.end()];
        const texts = out.map(({ written }) => JSON.parse(written).delta.text);
        expect(texts.join('')).toBe(`${before}${value}!`);
      }
    }
  },
);

test('inside JSON inside JSON a value is escaped as often as it must be', () => {
  const value = 'say "hi"\n';
  const wrap = (inner: string) =>
    JSON.stringify({ file: JSON.stringify({ deep: JSON.stringify([inner]) }), raw: inner });

  for (const name of ['messages, input', 'chat, arguments']) {
    const { text: got } = pass(channels[name] as Channel, [...wrap(placeholders.of(hidden, value))], value);
    expect(got).toBe(wrap(value));
  }
});

test('what only resembles JSON is text', () => {
  const value = 'say "hi"';
  for (const start of ['[INFO] "', '{ return "', '["a"] and "', 'x = {"a": "']) {
    const { text: got } = pass(text, [`${start}${placeholders.of(hidden, value)}`], value);
    expect(got).toBe(start + value);
  }
});

test('placeholders of others stay as they are, a hundred thousand of them too', () => {
  const foreign = 'HIDDEN_ABCDEFGHIJKLM ';
  const pieces = Array.from({ length: 100 }, () => foreign.repeat(1_000));

  const { text: got, restorer } = pass(text, pieces, 'a value');

  expect(got).toBe(pieces.join(''));
  expect(restorer.counts).toEqual({});
});

test.each<[string, (placeholder: string) => string]>([
  ['shortened', (placeholder) => placeholder.slice(0, -4)],
  ['in lower case', (placeholder) => placeholder.toLowerCase()],
  ['with another sign', (placeholder) => placeholder.replace('_', '-')],
])('a placeholder that came back %s is counted and left', (_how, change) => {
  const broken = change(placeholders.of(hidden, 'a value'));

  const { text: got, restorer } = pass(text, [`use ${broken} here`, ' and there'], 'a value');

  expect(got).toBe(`use ${broken} here and there`);
  expect(restorer.counts).toEqual({ broken_placeholders: { HIDDEN: 1 } });
});

test('a text that may end in a placeholder holds up others only for a while', () => {
  const restorer = new Restorer(
    collectValues(new Map([[placeholders.of(wordForm('EMAIL'), 'ann@example.com'), 'ann@example.com']])),
  );
  const stream = new StreamRestorer(restorer);
  const push = (index: number, piece: string) => stream.push(eventsOf([textDelta(index, piece)])).length;

  expect(push(0, 'ends with E')).toBe(0);
  const others = Array.from({ length: 17 }, () => push(1, 'other'));

  expect(others.slice(0, 16)).toEqual(Array(16).fill(0));
  expect(others[16]).toBe(18);
});

test('signed thinking, ids and names stay as they came', () => {
  const placeholder = placeholders.of(hidden, 'a value');
  const restorer = new Restorer(collectValues(new Map([[placeholder, 'a value']])));
  const kept = [
    blockDelta(0, { type: 'thinking_delta', thinking: placeholder }),
    blockStart(1, { type: 'tool_use', id: placeholder, name: placeholder, input: {} }),
    blockDelta(0, { type: 'signature_delta', signature: placeholder }),
    chatChunk({ reasoning_details: [{ type: 'reasoning.text', text: placeholder, index: 0 }] }),
  ];

  for (const event of kept) {
    const stream = new StreamRestorer(restorer);
    const left = [...stream.push(eventsOf([event])), ...stream.end()];
    expect(left.map(({ written }) => written)).toEqual([JSON.stringify(event)]);
  }
});

const cited = (title: string) => ({ type: 'char_location', cited_text: title, document_title: title });
const web = (title: string) => ({ title, url: 'https://a.example' });

test.each<[string, (title: string) => object]>([
  ['messages', (title) => blockDelta(0, { type: 'citations_delta', citation: cited(title) })],
  ['chat', (title) => chatChunk({ annotations: [{ type: 'url_citation', url_citation: web(title) }] })],
  [
    'responses',
    (title) => ({
      type: 'response.output_text.annotation.added',
      output_index: 0,
      annotation: { type: 'url_citation', ...web(title) },
    }),
  ],
])('a citation has the values again: %s', (_dialect, eventWith) => {
  const value = 'a "quoted" \\ value';
  const placeholder = placeholders.of(hidden, value);
  const stream = new StreamRestorer(new Restorer(collectValues(new Map([[placeholder, value]]))));

  const [cited] = stream.push(eventsOf([eventWith(placeholder)]));

  expect(JSON.parse(String(cited?.written))).toEqual(eventWith(value));
});

test('many texts that end cost no more than their number', () => {
  const run = (count: number) => {
    const stream = new StreamRestorer(
      new Restorer(collectValues(new Map([[placeholders.of(hidden, 'a value'), 'a value']]))),
    );
    const events = Array.from({ length: count }, (_, at) => [textDelta(at, 'ends with H'), blockStop(at)]);
    for (const event of eventsOf(events.flat())) stream.push([event]);
  };

  expect(growth(run, { small: 2_000, large: 8_000, limit: 8 })).toBeLessThan(8);
});
