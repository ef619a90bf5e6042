import { describe, expect, test } from 'vitest';
import type { ResponseCheck } from '../../../src/policy/answers/check-answer.ts';
import {
  blockDelta,
  blockStart,
  blockStop,
  chatChunk,
  textBlock,
  textDelta,
} from '../../kit/stream-events.ts';
import { answerCheck, answerCheckOf } from '../deciding.ts';
import { type PlainEvent, streamOf } from '../streams.ts';

const phrase = {
  id: 'codename',
  action: 'block',
  when: { text: { phrases: ['project nightfall'] } },
  reason: 'content.codename',
  apply_to: ['request', 'response'],
};

const event = (data: unknown): PlainEvent => ({ data: JSON.stringify(data) });
const done: PlainEvent = { data: '[DONE]' };
const messageEnd = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
].map(event);

/** A text of an item of responses: its beginning, a piece of it and its end. */
const itemText = (output_index: number, text: string, whole = text) => [
  event({
    type: 'response.content_part.added',
    output_index,
    content_index: 0,
    part: { type: 'output_text', text: whole.slice(0, whole.length - text.length) },
  }),
  event({ type: 'response.output_text.delta', output_index, content_index: 0, delta: text }),
  event({ type: 'response.output_text.done', output_index, content_index: 0, text: whole }),
];
const completed = (...texts: readonly string[]) =>
  event({
    type: 'response.completed',
    response: { id: 'r', output: texts.map((text) => ({ content: [{ type: 'output_text', text }] })) },
  });

const candidate = (...parts: readonly object[]) => event({ candidates: [{ content: { parts }, index: 0 }] });

/** A stream that says some pieces of text, in each dialect and form. */
const streams = {
  messages: (pieces: readonly string[]) => [
    event({ type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } }),
    ...textBlock(0, ...pieces).map(event),
    ...messageEnd,
  ],
  'messages, arguments': (pieces: readonly string[]) => [
    event(blockStart(0, { type: 'tool_use', id: 't', name: 'run', input: {} })),
    ...pieces.map((text) => event(blockDelta(0, { type: 'input_json_delta', partial_json: text }))),
    event(blockStop(0)),
    ...messageEnd,
  ],
  chat: (pieces: readonly string[]) => [
    event(chatChunk({ role: 'assistant', content: '' })),
    ...pieces.map((content) => event(chatChunk({ content }))),
    event(chatChunk({}, 'stop')),
    done,
  ],
  'chat with a finish reason on each': (pieces: readonly string[]) => [
    ...pieces.map((content) => event(chatChunk({ content }, 'stop'))),
    done,
  ],
  // What another dialect reads hides nothing of what this one reads.
  'chat with empty candidates': (pieces: readonly string[]) =>
    pieces.map((content) => event({ candidates: [], ...chatChunk({ content }) })),
  'chat with candidates of null': (pieces: readonly string[]) =>
    pieces.map((content) => event({ candidates: null, ...chatChunk({ content }) })),
  gemini: (pieces: readonly string[]) => pieces.map((text) => candidate({ text })),
  'gemini, two parts in an event': (pieces: readonly string[]) =>
    Array.from({ length: Math.ceil(pieces.length / 2) }, (_, at) =>
      candidate(...pieces.slice(2 * at, 2 * at + 2).map((text) => ({ text }))),
    ),
  'gemini with a finish reason on each': (pieces: readonly string[]) =>
    pieces.map((text) =>
      event({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP', index: 0 }] }),
    ),
  'gemini with empty choices': (pieces: readonly string[]) =>
    pieces.map((text) => event({ choices: [], candidates: [{ content: { parts: [{ text }] } }] })),
  'gemini, arguments': (pieces: readonly string[]) => [
    candidate({ functionCall: { name: 'run', willContinue: true } }),
    ...pieces.map((stringValue) =>
      candidate({
        functionCall: {
          partialArgs: [{ jsonPath: '$.command', stringValue, willContinue: true }],
          willContinue: true,
        },
      }),
    ),
    candidate({ functionCall: {} }),
  ],
  'gemini, code': (pieces: readonly string[]) =>
    pieces.map((code) => candidate({ executableCode: { language: 'PYTHON', code } })),
  'gemini, output': (pieces: readonly string[]) =>
    pieces.map((output) => candidate({ codeExecutionResult: { outcome: 'OUTCOME_OK', output } })),
  responses: (pieces: readonly string[]) => [
    event({ type: 'response.created', response: { id: 'r', output: [] } }),
    ...pieces.flatMap((piece) => itemText(0, piece).slice(1, 2)),
    ...itemText(0, pieces.join('')).slice(2),
    completed(pieces.join('')),
  ],
};

function pushed(stream: ReturnType<typeof streamOf>, event: PlainEvent) {
  stream.push(event);
  return stream.take();
}

/** What leaves of a stream, and the refusal, if there is one. */
function run(checker: ResponseCheck, events: readonly PlainEvent[]) {
  const stream = streamOf(checker);
  const released: PlainEvent[] = [];
  for (const each of events) {
    const step = pushed(stream, each);
    released.push(...step.release);
    if (step.refusal !== undefined) return { released, refusal: step.refusal, verdicts: stream.verdicts };
  }
  stream.end();
  const last = stream.take();
  released.push(...last.release);
  return { released, refusal: last.refusal, verdicts: stream.verdicts };
}

const saidKeys = [
  'stringValue',
  'code',
  'output',
  'text',
  'content',
  'delta',
  'thinking',
  'partial_json',
  'arguments',
  'reasoning_content',
];

/** All text that a client would have put together. */
function said(released: readonly PlainEvent[]): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (saidKeys.includes(key) || typeof each === 'object') collect(each);
      }
    }
  };
  for (const { data } of released) if (data !== '[DONE]') collect(JSON.parse(data));
  return texts.join('');
}

const forms = Object.keys(streams) as (keyof typeof streams)[];
/** Those of which more is held: a call is used once it is whole, and an event leaves whole. */
const coarse: readonly string[] = ['messages, arguments', 'gemini, two parts in an event'];

describe('answers cost nothing', () => {
  test('where no rule applies to them', () => {
    expect(answerCheckOf({ ...phrase, apply_to: ['request'] })).toBeUndefined();
  });

  test('where the other conditions of the rules do not hold for the request', () => {
    const rule = { ...phrase, when: { ...phrase.when, model: ['gpt-*'] } };

    expect(answerCheckOf(rule, { model: 'claude-3' })).toBeUndefined();
    expect(answerCheckOf(rule, { model: 'gpt-4o' })).toBeDefined();
  });
});

describe('a whole answer', () => {
  const whole = (more: object, text: string) =>
    answerCheck({ ...phrase, ...more }).whole(Buffer.from(JSON.stringify({ content: [{ text }] })));

  test('passes where nothing matches', () => {
    expect(whole({}, 'hello')).toEqual({ action: 'allow', verdicts: [] });
  });

  test('is blocked with the rule, the reason and the place', () => {
    expect(whole({}, 'the PROJECT nightfall')).toMatchObject({
      action: 'block',
      refusal: { rule: 'codename', reason: 'content.codename' },
      verdicts: [{ matches: [{ at: '/content/0/text' }] }],
    });
  });

  test('is redacted and stays JSON', () => {
    const { redactedBody } = whole({ action: 'redact' }, 'a "Project Nightfall" b');

    expect(JSON.parse(String(redactedBody)).content[0].text).toBe('a "[REDACTED:content.codename]" b');
  });

  test('is only recorded in dry run', () => {
    expect(whole({ mode: 'monitor' }, 'project nightfall')).toMatchObject({
      action: 'allow',
      verdicts: [{ rule: 'codename', mode: 'monitor' }],
    });
  });
});

describe.each(forms)('a stream of %s', (dialect) => {
  const text = 'we call it Project  Nightfall these days';

  test('lets no beginning of a match out where every letter is an event', () => {
    const { released, refusal } = run(answerCheck(phrase), streams[dialect]([...text]));

    expect(refusal?.rule).toBe('codename');
    if (coarse.includes(dialect)) expect('we call it ').toContain(said(released));
    else expect(said(released)).toBe('we call it ');
  });

  test('passes what only begins like a match, unchanged and in order', () => {
    const events = streams[dialect]([...'project night, and project x nightfall']);

    expect(run(answerCheck(phrase), events)).toMatchObject({ released: events, verdicts: [] });
  });

  test.skipIf(coarse.includes(dialect))('does not hold back what cannot be a beginning', () => {
    const stream = streamOf(answerCheck(phrase));
    const events = streams[dialect](['hello there. ', 'more']);
    const released = events.slice(0, 3).flatMap((each) => pushed(stream, each).release);

    expect(said(released)).toContain('hello there. ');
  });

  test('replaces a card number that comes digit by digit', () => {
    const rule = {
      ...phrase,
      action: 'redact',
      when: { text: { detect: ['credit_card'] } },
      reason: 'content.card',
    };
    const events = streams[dialect]([...'card 4111 1111 1111 1111 and more words after it, many of them']);

    const { released } = run(answerCheck(rule), events);

    expect(said(released)).toContain('card [REDACTED:content.card] and more words');
    expect(said(released)).not.toContain('4111');
  });

  test('blocks what ends with the stream', () => {
    const { refusal, released } = run(
      answerCheck({ ...phrase, when: { text: { regex: ['nightfall$'] } } }),
      streams[dialect](['at ', 'night', 'fall']),
    );

    expect(refusal?.rule).toBe('codename');
    expect(said(released)).toBe(coarse.includes(dialect) ? '' : 'at ');
  });

  test('only records in dry run', () => {
    const events = streams[dialect]([...text]);

    const { released, verdicts } = run(answerCheck({ ...phrase, mode: 'monitor' }), events);

    expect(released).toEqual(events);
    expect(verdicts.map(({ rule }) => rule)).toEqual(['codename']);
  });
});

describe('streams of several texts', () => {
  test('keep choices apart', () => {
    const delta = (index: number, content: string) => event(chatChunk({ content }, null, index));
    const events = [delta(0, 'project '), delta(1, 'nightfall '), delta(0, 'x'), delta(1, 'y')];

    expect(run(answerCheck(phrase), events).refusal).toBeUndefined();
    expect(
      run(answerCheck(phrase), [delta(0, 'project '), delta(1, 'z'), delta(0, 'nightfall')]).refusal,
    ).toBeDefined();
  });

  test("hold a call's arguments until they are complete, and see through their escapes", () => {
    const piece = (partial_json: string) => event(blockDelta(1, { type: 'input_json_delta', partial_json }));
    const stop = event(blockStop(1));
    const hidden = [piece('{"q":"\\u0070roject ni'), piece('ghtfall"}'), stop];
    const plain = [piece('{"q":"a'), piece('b"}'), stop];

    expect(run(answerCheck(phrase), hidden)).toMatchObject({ released: [], refusal: { rule: 'codename' } });
    expect(run(answerCheck(phrase), plain).released).toEqual(plain);
  });

  test('look at every other text of an event', () => {
    const start = event(blockStart(0, { type: 'text', text: 'Project Nightfall' }));

    expect(run(answerCheck(phrase), [start]).refusal).toBeDefined();
    expect(said(run(answerCheck({ ...phrase, action: 'redact' }), [start]).released)).toContain(
      '[REDACTED:content.codename]',
    );
  });

  test('give up a pattern without end at the limit, but still block when it ends', () => {
    const rule = { ...phrase, when: { text: { regex: ['alpha[^!]*omega'] } } };
    const delta = (content: string) => event(chatChunk({ content }));
    const events = [
      delta('alpha '),
      ...Array.from({ length: 30 }, () => delta('x '.repeat(500))),
      delta('omega'),
    ];

    const { released, refusal } = run(answerCheck(rule), events);

    expect(released.length).toBeGreaterThan(10);
    expect(refusal?.rule).toBe('codename');
  });
});

const text = 'see: project nightfall';
const blocked = { refusal: { reason: 'content.codename' } };
/** All ways to part the text in two, also where its space is the joint. */
const splits = [
  ...Array.from({ length: text.length - 1 }, (_, at) => [text.slice(0, at + 1), text.slice(at + 1)] as const),
  ['see: project', 'nightfall'] as const,
];

describe('what clients read in different ways', () => {
  const twice = (content: string) => ({
    data: `{"choices":[],"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}`,
  });

  test('ends a stream before any of it is out, wherever a text is split', () => {
    for (const [one, other] of splits) {
      const { released, refusal } = run(answerCheck(phrase), [twice(one), twice(other)]);

      expect(released).toEqual([]);
      expect(refusal).toMatchObject({ rule: 'codename', reason: 'content.unreadable' });
    }
  });

  test.each([
    '{"a":NaN}',
    ' {"__proto__":1}',
    '{"a":1',
    `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`,
    "{'a':1}",
    '{"a":1,"a":"project nightfall"}',
  ])('%s is such a text, whole or in a stream', (data) => {
    for (const action of ['block', 'redact']) {
      expect(answerCheck({ ...phrase, action }).whole(Buffer.from(data))).toMatchObject({
        action: 'block',
        refusal: { reason: 'content.unreadable' },
      });
      expect(run(answerCheck({ ...phrase, action }), [{ data }]).refusal?.reason).toBe('content.unreadable');
    }
  });

  test('passes if rules only monitor or warn, and is read as it is', () => {
    for (const more of [{ mode: 'monitor' }, { action: 'warn' }]) {
      const checker = answerCheck({ ...phrase, ...more });
      const events = [twice('project nightfall')];

      expect(run(checker, events)).toMatchObject({ released: events, verdicts: [{ rule: 'codename' }] });
      expect(checker.whole(Buffer.from(twice('project nightfall').data))).toMatchObject({
        verdicts: [{ rule: 'codename' }],
      });
    }
  });

  test('is not a value that is not an object: that is read, and redacted, as it is', () => {
    const redacting = answerCheck({ ...phrase, action: 'redact' });
    const cases = {
      '<p>project nightfall</p>': '<p>[REDACTED:content.codename]</p>',
      '[note] "project nightfall"': '[note] "[REDACTED:content.codename]"',
      '[{"error":{"message":"project nightfall"}}]': '[{"error":{"message":"[REDACTED:content.codename]"}}]',
      '"project nightfall"': '"[REDACTED:content.codename]"',
    };

    for (const [given, expected] of Object.entries(cases)) {
      expect(String(redacting.whole(Buffer.from(given)).redactedBody)).toBe(expected);
      expect(run(redacting, [{ data: given }]).released).toEqual([{ data: expected }]);
    }
  });
});

describe('texts of neighbouring blocks', () => {
  /** As Mistral has them. */
  const thoughtInContent = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
  const wholes: Readonly<Record<string, (...texts: readonly string[]) => object>> = {
    'blocks of messages': (...texts) => ({ content: texts.map((each) => ({ type: 'text', text: each })) }),
    'thinking and text of messages': (one, ...others) => ({
      content: [
        { type: 'thinking', thinking: one, signature: '' },
        ...others.map((each) => ({ type: 'text', text: each })),
      ],
    }),
    'items of responses': (...texts) => ({
      output: texts.map((each, at) => ({
        type: 'message',
        id: `m${at}`,
        content: [{ type: 'output_text', text: each }],
      })),
    }),
    'parts of an item of responses': (...texts) => ({
      output: [
        { type: 'message', id: 'm', content: texts.map((each) => ({ type: 'output_text', text: each })) },
      ],
    }),
    'reasoning and answer of a chat': (one, ...others) => ({
      choices: [
        { index: 0, message: { role: 'assistant', reasoning_content: one, content: others.join('') } },
      ],
    }),
    'parts of the content of a chat': (one, ...others) => ({
      choices: [
        {
          message: { content: [thoughtInContent(one), ...others.map((text) => ({ type: 'text', text }))] },
        },
      ],
    }),
  };
  const redacting = { ...phrase, action: 'redact' };
  const whole = (rule: object, body: object) => answerCheck(rule).whole(Buffer.from(JSON.stringify(body)));

  test.each(Object.entries(wholes))('of %s are read together in a whole answer', (_, body) => {
    for (const pieces of splits) expect(whole(phrase, body(...pieces))).toMatchObject(blocked);
    expect(whole(phrase, body('see: project', 'or nightfall')).action).toBe('allow');
  });

  test('are replaced together, and refused where they are spread over more than two', () => {
    const body = wholes['blocks of messages'] as (...texts: readonly string[]) => object;

    for (const pieces of splits) {
      const { redactedBody } = whole(redacting, body(...pieces));

      expect(said([{ data: String(redactedBody) }])).toBe('see: [REDACTED:content.codename]');
    }
    expect(whole(redacting, body('see: pro', 'ject night', 'fall'))).toMatchObject({
      action: 'block',
      refusal: { reason: 'content.unredactable' },
    });
  });

  test('of several choices are apart', () => {
    const choices = ['see: project', 'nightfall'].map((content, index) => ({ index, message: { content } }));

    expect(whole(phrase, { choices }).action).toBe('allow');
    expect(whole(phrase, { choices: [{ message: { content: 'project nightfall' } }, {}] })).toMatchObject(
      blocked,
    );
  });

  const block = (index: number, ...texts: readonly string[]) => textBlock(index, ...texts).map(event);
  const call = [
    blockStart(1, { type: 'tool_use', id: 't', name: 'n', input: {} }),
    blockDelta(1, { type: 'input_json_delta', partial_json: '{"a":1}' }),
    blockStop(1),
  ].map(event);
  const thought = (thinking: string) =>
    [
      blockStart(0, { type: 'thinking', thinking: '' }),
      blockDelta(0, { type: 'thinking_delta', thinking }),
      blockStop(0),
    ].map(event);
  const streamed: Readonly<Record<string, (one: string, other: string) => readonly PlainEvent[]>> = {
    'pieces of a text of messages': (...pieces) => streams.messages(pieces),
    'pieces of a text of a chat': (...pieces) => streams.chat(pieces),
    'pieces of a text of responses': (...pieces) => streams.responses(pieces),
    'pieces of a thought of messages': (...pieces) =>
      pieces.map((thinking) => event(blockDelta(0, { type: 'thinking_delta', thinking }))),
    'pieces of the reasoning of a chat': (...pieces) =>
      pieces.map((reasoning_content) => event(chatChunk({ reasoning_content }))),
    'blocks of messages': (one, other) => [...block(0, one), ...block(1, other), ...messageEnd],
    'blocks of messages with a call between': (one, other) => [
      ...[...block(0, one), ...call, ...block(2, other)],
      ...messageEnd,
    ],
    'thinking and text of messages': (one, other) => [...thought(one), ...block(1, other), ...messageEnd],
    'the beginning of a block and its deltas': (one, other) => [
      event(blockStart(0, { type: 'text', text: one })),
      ...block(0, other).slice(1),
      ...messageEnd,
    ],
    'items of responses': (one, other) => [...itemText(0, one), ...itemText(1, other), completed()],
    'the beginning of a part of responses and its deltas': (one, other) => [
      ...itemText(0, other, one + other),
      completed(one + other),
    ],
    'reasoning and answer of a chat': (one, other) => [
      event(chatChunk({ reasoning_content: one })),
      event(chatChunk({ content: other })),
      event(chatChunk({}, 'stop')),
      done,
    ],
    'thoughts in the content of a chat and its text': (one, other) => [
      event(chatChunk({ content: [thoughtInContent(one)] })),
      event(chatChunk({ content: other })),
      event(chatChunk({}, 'stop')),
      done,
    ],
    'parts of any kind in the content of a chat': (one, other) => [
      event(chatChunk({ content: [{ type: 'output_text', text: one }] })),
      event(chatChunk({ content: [thoughtInContent(other)] })),
      done,
    ],
    'thoughts and text of gemini': (one, other) => [
      event({ candidates: [{ content: { parts: [{ text: one, thought: true }] } }] }),
      event({ candidates: [{ content: { parts: [{ text: other }] }, index: 0 }] }),
    ],
  };

  /** A text that is one has a space of its own. */
  const splitsOf = (name: string) => (/beginning|pieces/.test(name) ? splits.slice(0, -1) : splits);

  test.each(Object.entries(streamed))('of %s are read together in a stream', (name, events) => {
    for (const pieces of splitsOf(name)) {
      const { released, refusal } = run(answerCheck(phrase), events(...pieces));

      expect(refusal?.reason).toBe('content.codename');
      expect(said(released)).not.toMatch(/pr|fall/);
    }
  });

  test.each(Object.entries(streamed))('of %s pass as they are where they only begin alike', (_, events) => {
    const given = events('see: project', 'or nightfall');

    expect(run(answerCheck(phrase), given)).toMatchObject({ released: given, verdicts: [] });
  });

  const replaceable = Object.entries(streamed).filter(([name]) => name !== 'items of responses');
  test.each(replaceable)('of %s are replaced together', (name, events) => {
    for (const pieces of splitsOf(name)) {
      const given = events(...pieces);

      const { released, refusal } = run(answerCheck(redacting), given);

      expect(refusal).toBeUndefined();
      expect(released).toHaveLength(given.length);
      expect(said(released)).toContain('[REDACTED:content.codename]');
      expect(said(released)).not.toMatch(/pro|fall/);
    }
  });

  test('of items of responses, which come again each by itself, are refused where they would be replaced', () => {
    for (const [one, other] of splits.filter(([one]) => one.length > 'see: '.length)) {
      const given = [...itemText(0, one), ...itemText(1, other), completed(one, other)];

      const { released, refusal } = run(answerCheck(redacting), given);

      expect(refusal).toMatchObject({ rule: 'codename', reason: 'content.unredactable' });
      expect(said(released)).not.toMatch(/pro|fall/);
    }
    const within = [...itemText(0, text), ...itemText(1, 'x'), completed(text, 'x')];
    expect(run(answerCheck(redacting), within).released).toHaveLength(within.length);
  });

  test('of a repeated answer are replaced, or refused where they are spread over more than two', () => {
    const [released] = run(answerCheck(redacting), [completed('see: project ', 'nightfall')]).released;

    expect(said([released as PlainEvent])).toBe('see: [REDACTED:content.codename]');
    expect(run(answerCheck(redacting), [completed('see: pro', 'ject night', 'fall')]).refusal?.reason).toBe(
      'content.unredactable',
    );
  });

  test('do not hide what is split within one of two blocks that come by turns', () => {
    const events = [textDelta(0, 'project '), textDelta(1, 'x'), textDelta(0, 'nightfall')].map(event);

    const { refusal } = run(answerCheck(phrase), events);

    expect(refusal?.rule).toBe('codename');
  });

  test('leave as soon as the next one shows that nothing begins there', () => {
    const stream = streamOf(answerCheck(phrase));
    const first = block(0, 'of a project');
    const second = block(1, 'or', ' two');

    expect(first.flatMap((each) => pushed(stream, each).release)).toEqual(first.slice(0, 1));
    expect(second.slice(0, 2).flatMap((each) => pushed(stream, each).release)).toEqual([
      ...first.slice(1),
      ...second.slice(0, 2),
    ]);
  });
});

describe('base64 is read as in requests', () => {
  const data = Buffer.from('all about project nightfall, and more words').toString('base64');
  const source = { type: 'base64', media_type: 'text/plain', data };
  const answers: Readonly<Record<string, object>> = {
    'gemini, a part': {
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'text/plain', data } }] } }],
    },
    'gemini, a part without a type': { candidates: [{ content: { parts: [{ inlineData: { data } }] } }] },
    'messages, a document': { content: [{ type: 'document', source }] },
    'messages, of a tool': { content: [{ type: 'tool_use', input: { source } }] },
    'chat, a file': { choices: [{ message: { content: [{ type: 'file', file: { file_data: data } }] } }] },
    'responses, a file': {
      output: [{ type: 'message', content: [{ type: 'input_file', file_data: data }] }],
    },
  };

  test.each(Object.entries(answers))('%s', (_name, answer) => {
    for (const action of ['block', 'redact']) {
      const check = answerCheck({ ...phrase, action });
      expect(check.whole(Buffer.from(JSON.stringify(answer))).refusal?.rule).toBe('codename');
      expect(run(check, [event(answer)]).refusal?.rule).toBe('codename');
    }
  });
});
