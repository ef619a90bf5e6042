import { describe, expect, test } from 'vitest';
import type { PolicySet } from '../../src/policy/compile.ts';
import type { ResponseCheck } from '../../src/policy/response.ts';
import type { Subject } from '../../src/policy/rule.ts';
import type { StreamEvent } from '../../src/policy/stream-check.ts';
import { compile, saying, subjectOf } from './deciding.ts';

const phrase = {
  id: 'codename',
  action: 'block',
  when: { text: { phrases: ['project nightfall'] } },
  reason: 'content.codename',
  apply_to: ['request', 'response'],
};

function checkOf(set: PolicySet, more: Partial<Subject> = {}): ResponseCheck | undefined {
  return set.checkAnswers(set.answerRules(subjectOf(saying('hi'), more)));
}

function check(rule: unknown, more: Partial<Subject> = {}): ResponseCheck {
  const found = checkOf(compile({ house: { rules: [rule] } }).select(['house']), more);
  if (found === undefined) throw new Error('no rule applies to the answer');
  return found;
}

type Dialect = 'messages' | 'chat' | 'responses';

const event = (data: unknown): StreamEvent => ({ data: JSON.stringify(data) });

/** A stream that says some pieces of text, in each dialect. */
const streams: Readonly<Record<Dialect, (pieces: readonly string[]) => readonly StreamEvent[]>> = {
  messages: (pieces) => [
    event({ type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...pieces.map((text) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
    event({ type: 'message_stop' }),
  ],
  chat: (pieces) => [
    event({
      id: 'c',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    }),
    ...pieces.map((content) =>
      event({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    ),
    event({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    { data: '[DONE]' },
  ],
  responses: (pieces) => [
    event({ type: 'response.created', response: { id: 'r', output: [] } }),
    ...pieces.map((delta) =>
      event({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta }),
    ),
    event({ type: 'response.output_text.done', output_index: 0, content_index: 0, text: pieces.join('') }),
    event({
      type: 'response.completed',
      response: { id: 'r', output: [{ content: [{ text: pieces.join('') }] }] },
    }),
  ],
};

/** What leaves of a stream, and the refusal, if there is one. */
function run(checker: ResponseCheck, events: readonly StreamEvent[]) {
  const stream = checker.stream();
  const released: StreamEvent[] = [];
  for (const each of events) {
    const step = stream.push(each);
    released.push(...step.release);
    if (step.refusal !== undefined) return { released, refusal: step.refusal, verdicts: stream.verdicts };
  }
  const last = stream.end();
  released.push(...last.release);
  return { released, refusal: last.refusal, verdicts: stream.verdicts };
}

/** All text that a client would have put together. */
function said(released: readonly StreamEvent[]): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (
          ['text', 'content', 'delta', 'thinking', 'partial_json', 'arguments'].includes(key) ||
          typeof each === 'object'
        )
          collect(each);
      }
    }
  };
  for (const { data } of released) if (data !== '[DONE]') collect(JSON.parse(data));
  return texts.join('');
}

const dialectNames = Object.keys(streams) as Dialect[];

describe('answers cost nothing', () => {
  test('where no rule applies to them', () => {
    const set = compile({ house: { rules: [{ ...phrase, apply_to: ['request'] }] } }).select(['house']);

    expect(checkOf(set)).toBeUndefined();
  });

  test('where the other conditions of the rules do not hold for the request', () => {
    const rule = { ...phrase, when: { ...phrase.when, model: ['gpt-*'] } };
    const set = compile({ house: { rules: [rule] } }).select(['house']);

    expect(checkOf(set, { model: 'claude-3' })).toBeUndefined();
    expect(checkOf(set, { model: 'gpt-4o' })).toBeDefined();
  });
});

describe('a whole answer', () => {
  const answer = (text: string) =>
    Buffer.from(JSON.stringify({ id: 'msg_1', content: [{ type: 'text', text }] }));

  test('passes where nothing matches', () => {
    expect(check(phrase).whole(answer('hello'))).toEqual({ action: 'allow', verdicts: [] });
  });

  test('is blocked with the rule, the reason and the place', () => {
    const decision = check(phrase).whole(answer('the PROJECT nightfall'));

    expect(decision).toMatchObject({
      action: 'block',
      refusal: { rule: 'codename', reason: 'content.codename' },
      verdicts: [{ matches: [{ at: '/content/0/text' }] }],
    });
  });

  test('is redacted and stays JSON', () => {
    const decision = check({ ...phrase, action: 'redact' }).whole(answer('a "Project Nightfall" b'));

    expect(JSON.parse(String(decision.redactedBody)).content[0].text).toBe(
      'a "[REDACTED:content.codename]" b',
    );
  });

  test('is only recorded in dry run', () => {
    const decision = check({ ...phrase, mode: 'monitor' }).whole(answer('project nightfall'));

    expect(decision).toMatchObject({ action: 'allow', verdicts: [{ rule: 'codename', mode: 'monitor' }] });
  });

  test('is read even where it is not JSON', () => {
    expect(check(phrase).whole(Buffer.from('<p>project nightfall</p>')).action).toBe('block');
    expect(check(phrase).whole(Buffer.from('{"a":1,"a":"project nightfall"}')).action).toBe('block');
  });
});

describe.each(dialectNames)('a stream of %s', (dialect) => {
  const text = 'we call it Project  Nightfall these days';

  test('lets no beginning of a match out, wherever it is split in two', () => {
    for (let at = 0; at <= text.length; at += 1) {
      const { released, refusal } = run(check(phrase), streams[dialect]([text.slice(0, at), text.slice(at)]));

      expect(refusal?.reason).toBe('content.codename');
      expect(said(released).toLowerCase()).not.toContain('project');
    }
  });

  test('lets no beginning of a match out where every letter is an event', () => {
    const { released, refusal } = run(check(phrase), streams[dialect]([...text]));

    expect(refusal?.rule).toBe('codename');
    expect(said(released)).toBe('we call it ');
  });

  test('passes what only begins like a match, unchanged and in order', () => {
    const events = streams[dialect]([...'project night, and project x nightfall']);

    const { released, refusal } = run(check(phrase), events);

    expect(refusal).toBeUndefined();
    expect(released).toEqual(events);
  });

  test('does not hold back what cannot be a beginning', () => {
    const stream = check(phrase).stream();
    const events = streams[dialect](['hello there. ', 'more']);
    const released = events.slice(0, 3).flatMap((each) => stream.push(each).release);

    expect(said(released)).toContain('hello there. ');
  });

  test('replaces a match wherever it is split, and keeps every event valid', () => {
    for (let at = 0; at <= text.length; at += 1) {
      const events = streams[dialect]([text.slice(0, at), text.slice(at)]);

      const { released, refusal } = run(check({ ...phrase, action: 'redact' }), events);

      expect(refusal).toBeUndefined();
      expect(released).toHaveLength(events.length);
      expect(said(released)).toContain('we call it [REDACTED:content.codename] these days');
      expect(said(released).toLowerCase()).not.toContain('nightfall');
    }
  });

  test('replaces a card number that comes digit by digit', () => {
    const rule = {
      ...phrase,
      action: 'redact',
      when: { text: { detect: ['credit_card'] } },
      reason: 'content.card',
    };
    const events = streams[dialect]([...'card 4111 1111 1111 1111 and more words after it, many of them']);

    const { released } = run(check(rule), events);

    expect(said(released)).toContain('card [REDACTED:content.card] and more words');
    expect(said(released)).not.toContain('4111');
  });

  test('blocks what ends with the stream', () => {
    const { refusal, released } = run(
      check({ ...phrase, when: { text: { regex: ['nightfall$'] } } }),
      streams[dialect](['at ', 'night', 'fall']),
    );

    expect(refusal?.rule).toBe('codename');
    expect(said(released)).toBe('at ');
  });

  test('only records in dry run', () => {
    const events = streams[dialect]([...text]);

    const { released, verdicts } = run(check({ ...phrase, mode: 'monitor' }), events);

    expect(released).toEqual(events);
    expect(verdicts.map(({ rule }) => rule)).toEqual(['codename']);
  });
});

describe('streams of several texts', () => {
  test('keep choices apart', () => {
    const delta = (index: number, content: string) => event({ choices: [{ index, delta: { content } }] });
    const events = [delta(0, 'project '), delta(1, 'nightfall '), delta(0, 'x'), delta(1, 'y')];

    expect(run(check(phrase), events).refusal).toBeUndefined();
    expect(
      run(check(phrase), [delta(0, 'project '), delta(1, 'z'), delta(0, 'nightfall')]).refusal,
    ).toBeDefined();
  });

  test('look into thinking and fields of hosts', () => {
    const thinking = (text: string) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: text } });
    const reasoning = (text: string) =>
      event({ choices: [{ index: 0, delta: { reasoning_content: text } }] });

    expect(run(check(phrase), [thinking('project '), thinking('nightfall')]).refusal).toBeDefined();
    expect(run(check(phrase), [reasoning('project '), reasoning('nightfall')]).refusal).toBeDefined();
  });

  test("hold a call's arguments until they are complete, and see through their escapes", () => {
    const piece = (partial_json: string) =>
      event({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json } });
    const stop = event({ type: 'content_block_stop', index: 1 });
    const hidden = [piece('{"q":"\\u0070roject ni'), piece('ghtfall"}'), stop];
    const plain = [piece('{"q":"a'), piece('b"}'), stop];

    expect(run(check(phrase), hidden)).toMatchObject({ released: [], refusal: { rule: 'codename' } });
    expect(run(check(phrase), plain).released).toEqual(plain);
  });

  test('look at every other text of an event', () => {
    const start = event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: 'Project Nightfall' },
    });

    expect(run(check(phrase), [start]).refusal).toBeDefined();
    expect(said(run(check({ ...phrase, action: 'redact' }), [start]).released)).toContain(
      '[REDACTED:content.codename]',
    );
  });

  test('give up a pattern without end at the limit, but still block when it ends', () => {
    const rule = { ...phrase, when: { text: { regex: ['alpha[^!]*omega'] } } };
    const delta = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });
    const events = [
      delta('alpha '),
      ...Array.from({ length: 30 }, () => delta('x '.repeat(500))),
      delta('omega'),
    ];

    const { released, refusal } = run(check(rule), events);

    expect(released.length).toBeGreaterThan(10);
    expect(refusal?.rule).toBe('codename');
  });
});
