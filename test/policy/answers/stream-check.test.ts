import { describe, expect, test } from 'vitest';
import type { ResponseCheck } from '../../../src/policy/answers/check-answer.ts';
import { scale } from '../../kit/scale.ts';
import { chatChunk, textDelta } from '../../kit/stream-events.ts';
import { answerCheck } from '../deciding.ts';
import { labelledSets } from '../detectors/labelled-set/registry.ts';
import { type PlainEvent, streamOf } from '../streams.ts';

const codename = {
  id: 'codename',
  action: 'block',
  apply_to: ['response'],
  when: { text: { phrases: ['project nightfall'] } },
  reason: 'content.codename',
};

const checks = new Map<object, ResponseCheck>();

function checkOf(rule: object): ResponseCheck {
  const check = checks.get(rule) ?? answerCheck(rule);
  checks.set(rule, check);
  return check;
}

/** What leaves of a stream, and whether the rule ended it. */
function run(
  events: readonly PlainEvent[],
  rule: object = codename,
): { readonly text: string; readonly isRefused: boolean } {
  const check = streamOf(checkOf(rule));
  const steps = events.map((event) => {
    check.push(event);
    return check.take();
  });
  check.end();
  steps.push(check.take());
  return {
    text: steps.flatMap(({ release }) => release.map(({ data }) => data)).join(''),
    isRefused: steps.some(({ refusal }) => refusal !== undefined),
  };
}

const chunk = (content: string, choice: object = {}, more: object = {}): PlainEvent => ({
  data: JSON.stringify({ id: 'c', ...more, choices: [{ index: 0, delta: { content }, ...choice }] }),
});

test('what only an exception on the request looks for holds nothing back', () => {
  const unless = { text: { phrases: ['all is well'] } };
  const check = streamOf(checkOf({ ...codename, unless }));

  check.push(chunk('all is'));

  expect(check.take().release).toEqual([chunk('all is')]);
});

describe('a text that is split over events is found, and none of it has left', () => {
  const type = { type: 'chat.completion.chunk' };
  const empty = { finish_reason: '' };
  const legacy = (text: string): PlainEvent => ({
    data: JSON.stringify({ object: 'text_completion', choices: [{ text, index: 0, finish_reason: null }] }),
  });
  const named = (text: string): PlainEvent => ({
    name: 'content_block_delta',
    data: JSON.stringify({ index: 0, delta: { text } }),
  });

  test.each<[string, (text: string) => PlainEvent]>([
    ['if a host adds a type to the chunks of a chat', (text) => chunk(text, {}, type)],
    ['where a host streams legacy completions, whose texts stand in their choices', legacy],
    ['if a host sends an empty finish reason with every chunk', (text) => chunk(text, empty)],
    ['if a host sends a null error with every chunk', (text) => chunk(text, {}, { error: null })],
    ['where events have their type as their name alone', named],
  ])('%s', (_name, event) => {
    expect(run([event('project '), event('nightfall')])).toEqual({ text: '', isRefused: true });
  });
});

describe('what clients concatenate is read together', () => {
  const events = (pieces: readonly object[]) => pieces.map((piece) => ({ data: JSON.stringify(piece) }));
  const names = (...pieces: string[]) =>
    events(pieces.map((name) => chatChunk({ tool_calls: [{ index: 0, function: { name } }] })));
  const start = (text: string) => ({ type: 'message_start', message: { content: [{ type: 'text', text }] } });

  test.each(['block', 'redact'])('a tool name in pieces (%s)', (action) => {
    expect(run(names('project night', 'fall'), { ...codename, action })).toEqual({
      text: '',
      isRefused: true,
    });
    expect(run(names('get_', 'weather'), { ...codename, action }).isRefused).toBe(false);
  });

  test('a tool name that comes whole with every piece', () => {
    expect(run(names('project nightfall', 'project nightfall'))).toEqual({ text: '', isRefused: true });
  });

  test('the text that a message starts with, and its first block', () => {
    expect(run(events([start('project night'), textDelta(0, 'fall')]))).toEqual({
      text: '',
      isRefused: true,
    });
    expect(run(events([start('project'), textDelta(0, 'harmless')])).isRefused).toBe(false);
  });
});

test('text after the finish reason is still checked', () => {
  const [first, finish] = [chunk('project '), chunk('', { finish_reason: 'stop' })];

  const { text, isRefused } = run([first, finish, chunk('nightfall')]);

  // Nothing held the beginning back any more, but the whole never arrives.
  expect([text, isRefused]).toEqual([first.data + finish.data, true]);
});

test('a finish reason that comes with a text ends nothing', () => {
  const first = chunk('project ', { finish_reason: 'stop' });

  expect(run([first, chunk('nightfall')])).toEqual({ text: '', isRefused: true });
  expect(run([first, chunk('sunrise')]).text).toBe(first.data + chunk('sunrise').data);
});

describe('replacements after the end of a text', () => {
  const redacting = { ...codename, action: 'redact' };
  const stop = chunk('', { finish_reason: 'stop' });
  const contents = ({ text }: { readonly text: string }) =>
    [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content);

  test('are marked, although their beginning has been sent', () => {
    const left = run([chunk('see project '), stop, chunk('night'), chunk('fall, and more')], redacting);

    expect(contents(left)).toEqual(['see project ', '', '[REDACTED:content.codename]', ', and more']);
  });

  test('are marked once, if their beginning was replaced', () => {
    const left = run([chunk('see project '), chunk('nightfall, '), stop, chunk('and more')], redacting);

    expect(contents(left)).toEqual(['see [REDACTED:content.codename]', ', ', '', 'and more']);
  });

  test('are marked one by one', () => {
    const chunks = [chunk('project '), stop, chunk('nightfall '), stop, chunk('project nightfall')];

    const label = '[REDACTED:content.codename]';
    expect(contents(run(chunks, redacting))).toEqual(['project ', '', `${label} `, '', label]);
  });
});

test('the text of an event line is read, and nothing in it can be replaced', () => {
  const event = (name: string): PlainEvent => ({ name, data: '{}' });

  expect(run([event('ping'), event('project nightfall')]).isRefused).toBe(true);
  expect(run([event('project nightfall')], { ...codename, action: 'redact' }).isRefused).toBe(true);
  expect(run([event('ping'), event('project'), event('nightfall')]).isRefused).toBe(false);
});

describe('in the same event with another text', () => {
  const before = Array.from({ length: 4 }, (_, at) => chunk(`word ${at} `));

  test.each([
    ['JSON with escapes', '{"a":"project \\u006eightfall"}'],
    ['a data URL', 'data:text/plain;base64,cHJvamVjdCBuaWdodGZhbGw='],
    ['the phrase itself', 'of project nightfall'],
  ])('%s does not hide what a rule forbids', (_what, hiding) => {
    const { text, isRefused } = run([...before, chunk(hiding), chunk('and more')]);

    expect([text, isRefused]).toEqual([before.map(({ data }) => data).join(''), true]);
  });

  test('an unusual spelling is replaced where it stands, and the rest stays', () => {
    const rule = { ...codename, action: 'redact' };

    const { text } = run([...before, chunk('"project\tnightfall"\n\\ é'), chunk(' 4')], rule);

    const label = chunk('"[REDACTED:content.codename]"\n\\ é').data;
    expect(text).toBe([...before.map(({ data }) => data), label, chunk(' 4').data].join(''));
  });

  test('what stands around the text is read again as soon as it changes', () => {
    const other = { ...chunk('more'), data: chunk('more', {}, { note: 'project nightfall' }).data };

    expect(run([...before, other]).isRefused).toBe(true);
    expect(run([...before, { ...chunk('more'), name: 'project nightfall' }]).isRefused).toBe(true);
    expect(run([...before, { data: chunk('more').data.replace('{', '{"id":"d",') }]).isRefused).toBe(true);
  });
});

test('what a pattern without end holds back is bounded, and a match in it is found all the same', () => {
  const rule = { ...codename, action: 'redact', when: { text: { regex: ['<<[^>]*>', 'TCK-[0-9]{4}'] } } };
  const pieces = Array.from({ length: 6_000 }, (_, at) => chunk(` << ${at} TCK-${1_000 + at}.`));

  const { text, isRefused } = run([...pieces, chunk('end')], rule);

  expect(isRefused).toBe(false);
  expect(text).not.toContain('TCK-');
  expect(text.match(/REDACTED/g)).toHaveLength(6_000);
});

const words = 'the build failed because a module was not found so I looked at the file and changed it ';
const textOf = (data: string) =>
  [...data.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) => JSON.parse(json)).join('');

describe.each(['secrets', 'private_key'] as const)('%s', (name) => {
  const rule = {
    id: name,
    action: 'redact',
    apply_to: ['response'],
    reason: 'content.found',
    when: { text: { detect: [name] } },
  };

  test('hold back no more than 512 characters of what has nothing of them', () => {
    const check = streamOf(checkOf(rule));
    let given = 0;
    let left = 0;
    for (let at = 0; at < 400; at += 1) {
      given += words.length;
      check.push(chunk(words));
      left += check.take().release.length * words.length;
      expect(given - left).toBeLessThan(512 + words.length);
    }
  });

  test('nothing of one leaves in a stream that does not leave in a whole answer', () => {
    const { positives } = labelledSets[name].label();
    const step = Math.ceil(positives.length / scale(20, 250));
    const unlisted = 'acme_b7Kq2ZrX9mTn4VwLs8PdYc3HgJf6RtB5kQeUxA1iWo';
    const sampled = [
      ...positives.filter((_, at) => at % step === 0),
      ...(name === 'secrets' ? [{ text: unlisted, planted: unlisted }] : []),
    ];
    const counts = { found: 0, left: 0 };
    for (const { text, planted = '' } of sampled) {
      const said = `${words.repeat(20)}\n${text}\n${words.repeat(60)}`;
      const message = { id: 'c', choices: [{ index: 0, message: { content: said } }] };
      const { redactedBody } = checkOf(rule).whole(Buffer.from(JSON.stringify(message)));
      const whole = redactedBody === undefined ? said : textOf(redactedBody.toString());
      const streamed = textOf(
        run(
          (said.match(/[\s\S]{1,11}/g) ?? []).map((piece) => chunk(piece)),
          rule,
        ).text,
      );
      const parts = planted.match(/\S{12}/g) ?? [];
      counts.found += redactedBody === undefined ? 0 : 1;
      counts.left += parts.some((part) => streamed.includes(part) && !whole.includes(part)) ? 1 : 0;
    }

    expect(counts.left).toBe(0);
    expect(counts.found).toBeGreaterThan(sampled.length * 0.9);
  });
});
