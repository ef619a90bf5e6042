import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { SseParser } from '../../../src/dialects/sse.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { GatewayError } from '../../../src/errors.ts';
import { type Option, requestOf } from '../../kit/conversations.ts';
import { directions } from '../../kit/dialects.ts';
import { recordedStream } from '../../kit/recorded-streams.ts';
import { scale } from '../../kit/scale.ts';
import { plainAnswers } from './plain-answers.ts';
import { newContext, startTranslation } from './run-translation.ts';

// Every value of a body, one after the other, becomes something of another type. What then fails must fail as
// foreseen: 400 for a client's junk, 502 for a provider's, never an accident inside.

const junk: readonly unknown[] = [
  undefined,
  null,
  0,
  -1.5,
  '',
  'x',
  true,
  [],
  [null],
  [[]],
  {},
  { a: 1 },
  ['x'],
];

/** The document once for each of its values and each kind of junk. */
function* spoiled(value: unknown, depth = 0): Generator<unknown> {
  for (const [i, replacement] of junk.entries()) if ((i + depth) % scale(23, 3) === 0) yield replacement;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      for (const other of spoiled(item, depth + i + 1)) yield value.with(i, other);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [i, [key, item]] of Object.entries(value).entries()) {
      for (const other of spoiled(item, depth + i + 1)) yield { ...value, [key]: other };
    }
  }
}

/** What was thrown that nobody foresaw, as text; empty where all is well. */
function accident(allowed: readonly string[], work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    if (error instanceof GatewayError && allowed.includes(error.code)) return '';
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

const options: readonly Option[] = ['tools', 'tool result', 'image', 'thinking', 'structured'];

describe.each(directions)('%s to %s', (client, provider) => {
  test('a spoiled request is translated or refused', () => {
    const accidents = new Set<string>();
    for (const option of options) {
      for (const request of spoiled({ ...requestOf[client]('m', option), stream: true })) {
        const translation = createTranslation(dialects[client], dialects[provider], newContext());
        accidents.add(accident(['request.field', 'request.unsupported'], () => translation.request(request)));
      }
    }

    expect([...accidents].filter((text) => text !== '')).toEqual([]);
  });

  test('a spoiled answer is translated or broken', () => {
    const accidents = new Set<string>();
    const answers = Object.values(plainAnswers[provider]);
    for (const answer of answers.flatMap((one) => [...spoiled(one)])) {
      const translation = startTranslation(client, provider);
      accidents.add(accident(['provider.broken_response'], () => JSON.stringify(translation.answer(answer))));
    }

    expect([...accidents].filter((text) => text !== '')).toEqual([]);
  });

  test('a spoiled error is an error', () => {
    const accidents = new Set<string>();
    const error = {
      type: 'error',
      error: { type: 'x', message: 'y', code: 'z', param: 'p', status: 's', details: [{ reason: 'r' }] },
      detail: [{ msg: 'm' }],
    };
    for (const body of spoiled(error)) {
      const translation = startTranslation(client, provider);
      accidents.add(accident([], () => translation.error(500, body)));
    }

    expect([...accidents].filter((text) => text !== '')).toEqual([]);
  });

  test.each(['text-then-tool', 'thinking', 'refusal'])(
    'a spoiled event of %s is translated or breaks the stream',
    (scenario) => {
      const accidents = new Set<string>();
      const events: { name: string | undefined; data: string }[] = [];
      const parser = new SseParser((name, data) => events.push({ name, data }));
      parser.push(recordedStream(`${provider}.${scenario}`));
      parser.end();

      for (const [at, { data }] of events.entries()) {
        if (data === '[DONE]') continue;
        for (const other of spoiled(JSON.parse(data))) {
          const stream = startTranslation(client, provider).stream();
          accidents.add(
            accident(['provider.broken_response'], () => {
              for (const [i, { name, data: own }] of events.entries()) {
                stream.event(name, i === at ? (JSON.stringify(other) ?? 'undefined') : own);
              }
              stream.end();
            }),
          );
        }
      }

      expect([...accidents].filter((text) => text !== '')).toEqual([]);
    },
  );
});
