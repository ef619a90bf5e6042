import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newestOpenAi } from '../kit/openai.ts';
import { scale } from '../kit/scale.ts';
import { policyOf } from '../policy/deciding.ts';

// Every field of every type that the official SDKs declare, known to the dialects' tables or not, is read by the policy,
// wherever a body may have an object of that type.

const packages = join(import.meta.dirname, '../../node_modules');
const forbidden = 'project nightfall';

interface Field {
  readonly type: string;
  readonly name: string;
}

/** The fields of an SDK's interfaces that have a `type`, and one that none of them has. */
function declaredFields(directory: string): readonly Field[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const text = files
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n');
  const found = new Map<string, Field>();
  for (const [, body = ''] of text.matchAll(/export interface \w+ \{([\s\S]*?)\n\}/g)) {
    const [, union = ''] = /^ {4}type\??: ([^;]+);/m.exec(body) ?? [];
    const names = [...body.matchAll(/^ {4}(\w+)\??: /gm)].map(([, name = '']) => name);
    for (const [, type = ''] of union.matchAll(/'([\w.-]+)'/g)) {
      for (const name of [...names, 'made_up']) found.set(`${type} ${name}`, { type, name });
    }
  }
  return [...found.values()].filter(({ name }) => name !== 'type');
}

const values: readonly unknown[] = [
  forbidden,
  [forbidden],
  [{ type: 'text', text: forbidden }],
  { text: forbidden },
  { type: 'made_up', data: forbidden },
  { [forbidden]: 1 },
  { a: { b: [{ c: forbidden }] } },
];

type Place = (object: object) => object;
const user = (content: unknown) => ({ role: 'user', content });
const ofAnthropic = declaredFields(join(packages, '@anthropic-ai/sdk/resources'));
const ofOpenAi = declaredFields(join(newestOpenAi, 'resources'));

const places: Readonly<Record<'messages' | 'chat' | 'responses', readonly Place[]>> = {
  messages: [
    (object) => ({ max_tokens: 9, messages: [user([object])] }),
    (object) => ({ max_tokens: 9, tools: [{ name: 'look', ...object }], messages: [user('hi')] }),
  ],
  chat: [
    (object) => ({ messages: [user([object])] }),
    (object) => ({ tools: [object], messages: [user('hi')] }),
  ],
  responses: [
    (object) => ({ input: [object] }),
    (object) => ({ tools: [object], input: 'hi' }),
    (object) => ({ input: [user([object])] }),
  ],
};

const decide = policyOf({ id: 'phrase', action: 'block', when: { text: { phrases: [forbidden] } } });

test.each(['messages', 'chat', 'responses'] as const)(
  '%s: no field of any type is skipped',
  { timeout: 600_000 },
  (endpoint) => {
    const isBlocked = (body: object) => decide({ model: 'x', ...body }, { endpoint }).action === 'block';
    const fields = endpoint === 'messages' ? ofAnthropic : ofOpenAi;

    const bodies = places[endpoint].flatMap((place) =>
      fields.flatMap(({ type, name }) => values.map((value) => place({ type, [name]: value }))),
    );
    const passed = bodies.filter((body, i) => i % scale(61, 5) === 0 && !isBlocked(body));

    expect(fields.length).toBeGreaterThan(300);
    expect(places[endpoint].map((place) => isBlocked(place({ type: 'text', text: 'hi' })))).not.toContain(
      true,
    );
    expect(passed).toEqual([]);
  },
);
