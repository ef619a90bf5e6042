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

// biome-ignore format: a list
const junk: readonly unknown[] = [
  undefined, null, 0, -1.5, '', 'x', true, [], [null], [[]], {}, { a: 1 }, ['x'],
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

/** What was thrown that nobody foresaw while each of them was worked on. */
function accidents<Item>(
  allowed: readonly string[],
  items: Iterable<Item>,
  work: (item: Item) => unknown,
): readonly string[] {
  const found = new Set<string>();
  for (const item of items) {
    try {
      work(item);
    } catch (error) {
      if (error instanceof GatewayError && allowed.includes(error.code)) continue;
      found.add(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }
  return [...found];
}

const options: readonly Option[] = ['tools', 'tool result', 'image', 'thinking', 'structured'];

describe.each(directions)('%s to %s', (client, provider) => {
  test('a spoiled request is translated or refused', () => {
    const requests = options.flatMap((option) => [
      ...spoiled({ ...requestOf[client]('m', option), stream: true }),
    ]);

    const found = accidents(['request.field', 'request.unsupported'], requests, (request) =>
      createTranslation(dialects[client], dialects[provider], newContext()).request(request),
    );

    expect(found).toEqual([]);
  });

  test('a spoiled answer is translated or broken', () => {
    const answers = Object.values(plainAnswers[provider]).flatMap((answer) => [...spoiled(answer)]);

    const found = accidents(['provider.broken_response'], answers, (answer) =>
      JSON.stringify(startTranslation(client, provider).answer(answer)),
    );

    expect(found).toEqual([]);
  });

  test('a spoiled error is an error', () => {
    const error = {
      type: 'error',
      error: { type: 'x', message: 'y', code: 'z', param: 'p', status: 's', details: [{ reason: 'r' }] },
      detail: [{ msg: 'm' }],
    };

    const found = accidents([], spoiled(error), (body) =>
      startTranslation(client, provider).error(500, body),
    );

    expect(found).toEqual([]);
  });

  test.each(['text-then-tool', 'thinking', 'refusal'])(
    'a spoiled event of %s is translated or breaks the stream',
    (scenario) => {
      const events: { name: string | undefined; data: string }[] = [];
      const parser = new SseParser((name, data) => events.push({ name, data }));
      parser.push(recordedStream(`${provider}.${scenario}`));
      parser.end();
      const others = events.flatMap(({ data }, at) =>
        data === '[DONE]' ? [] : [...spoiled(JSON.parse(data))].map((other) => ({ at, other })),
      );

      const found = accidents(['provider.broken_response'], others, ({ at, other }) => {
        const stream = startTranslation(client, provider).stream();
        for (const [i, { name, data }] of events.entries()) {
          stream.event(name, i === at ? (JSON.stringify(other) ?? 'undefined') : data);
        }
        stream.end();
      });

      expect(found).toEqual([]);
    },
  );
});
