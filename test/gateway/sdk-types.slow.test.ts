import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { speakAll } from '../kit/answers.ts';
import { post, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { newestOpenAi } from '../kit/openai.ts';
import { scale } from '../kit/scale.ts';

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

const dialects: readonly [name: string, path: string, fields: readonly Field[], places: readonly Place[]][] =
  [
    [
      'messages',
      '/v1/messages',
      declaredFields(join(packages, '@anthropic-ai/sdk/resources')),
      [
        (object) => ({ max_tokens: 9, messages: [user([object])] }),
        (object) => ({ max_tokens: 9, tools: [{ name: 'look', ...object }], messages: [user('hi')] }),
      ],
    ],
    [
      'chat',
      '/v1/chat/completions',
      declaredFields(join(newestOpenAi, 'resources')),
      [
        (object) => ({ messages: [user([object])] }),
        (object) => ({ tools: [object], messages: [user('hi')] }),
      ],
    ],
    [
      'responses',
      '/v1/responses',
      declaredFields(join(newestOpenAi, 'resources')),
      [
        (object) => ({ input: [object] }),
        (object) => ({ tools: [object], input: 'hi' }),
        (object) => ({ input: [user([object])] }),
      ],
    ],
  ];

test.each(dialects)('%s: no field of any type is skipped', { timeout: 600_000 }, async (...dialect) => {
  const [name, path, fields, places] = dialect;
  const host = await startHost(speakAll);
  const gateway = await startGateway(`
providers:
  host: { dialect: ${name === 'messages' ? 'anthropic' : 'openai'}, base_url: "${host.url}", endpoints: [${name}] }
models: [{ match: x, provider: host }]
policies: { strict: { apply: all, rules: [{ id: phrase, action: block, when: { text: { phrases: ["${forbidden}"] } } }] } }
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  onTestFinished(() => gateway.stop());
  const passed: string[] = [];
  const send = async (body: object) => {
    const answer = await post(gateway, path, { model: 'x', ...body });
    await answer.arrayBuffer();
    return answer.status;
  };

  expect(fields.length).toBeGreaterThan(300);
  expect(await send(places[0]?.({ type: 'text', text: 'hi' }) ?? {})).toBe(200);
  const all = fields.flatMap((field) =>
    places.flatMap((place) => values.map((value) => ({ field, place, value }))),
  );
  const tried = all.filter((_, index) => index % scale(601, 61) === 0);
  const next = tried.values();
  const worker = async () => {
    for (const { field, place, value } of next) {
      const body = place({ type: field.type, [field.name]: value });
      if ((await send(body)) !== 403) passed.push(JSON.stringify(body));
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));

  expect(passed).toEqual([]);
  expect(host.requests).toHaveLength(1);
});
