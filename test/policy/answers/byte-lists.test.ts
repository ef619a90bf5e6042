import { expect, test } from 'vitest';
import { answerCheck } from '../deciding.ts';
import { streamOf } from '../streams.ts';

const check = (action: 'block' | 'redact') =>
  answerCheck({
    ...{ id: 'codename', action, reason: 'content.codename', apply_to: ['response'] },
    when: { text: { phrases: ['project nightfall'] } },
  });

const tokens = (pieces: readonly string[]) =>
  pieces.map((piece) => ({ token: '?', bytes: [...Buffer.from(piece)] }));
const bad = ['pro', 'ject', ' night', 'fall'];
const good = ['pro', 'ject', ' daybreak'];

/** What each dialect says in an answer of which only the bytes are telling. */
const wholes = {
  chat: (pieces: readonly string[]) => ({
    choices: [{ index: 0, message: { content: 'no' }, logprobs: { content: tokens(pieces) } }],
  }),
  responses: (pieces: readonly string[]) => ({
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'no', logprobs: tokens(pieces) }] }],
  }),
};
const events = {
  chat: (piece: string) => ({
    choices: [{ index: 0, delta: { content: '.' }, logprobs: { content: tokens([piece]) } }],
  }),
  responses: (piece: string) => ({
    ...{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: '.' },
    logprobs: tokens([piece]),
  }),
};

const cases = (['chat', 'responses'] as const).flatMap((dialect) =>
  (['block', 'redact'] as const).map((action) => [dialect, action] as const),
);

test.each(cases)(
  'bytes of tokens that %s says, whole or in events, are read by a rule that would %s',
  (dialect, action) => {
    const whole = (pieces: readonly string[]) =>
      check(action).whole(Buffer.from(JSON.stringify(wholes[dialect](pieces)))).refusal?.reason;
    const streamed = (pieces: readonly string[]) => {
      const stream = streamOf(check(action));
      for (const piece of pieces) stream.push({ data: JSON.stringify(events[dialect](piece)) });
      stream.end();
      const { release, refusal } = stream.take();
      return { count: release.length, isRefused: refusal !== undefined };
    };

    expect(whole(bad)).toBe(action === 'block' ? 'content.codename' : 'content.unredactable');
    expect(whole(good)).toBeUndefined();
    expect(streamed(bad)).toEqual({ count: 0, isRefused: true });
    expect(streamed(good)).toEqual({ count: good.length, isRefused: false });
  },
);

test('a message in place of a delta is one text with what came before', () => {
  const stream = streamOf(check('block'));
  const choice = (name: string, content: string) =>
    stream.push({ data: JSON.stringify({ choices: [{ index: 0, [name]: { content } }] }) });

  choice('delta', 'project ');
  choice('message', 'night');
  choice('message', 'fall');
  stream.end();

  expect(stream.take().refusal?.reason).toBe('content.codename');
});
