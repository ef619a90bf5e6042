import type { DialectName } from '../../src/dialects/registry.ts';
import type { Random } from './random.ts';

// Random conversations in every dialect, and bodies that begin like one another: what an agent sends next, and
// what somebody sends who hopes that a beginning is taken for a whole.

/** Pieces that mean something only together, in one text or over several, and harmless ones. */
// biome-ignore format: as one reads them
const pieces = [
  'project night', 'fall', 'project nightfall', 'proje', 'ct  NIGHTFALL', 'data:text/plain,project%20nightfall',
  '4111 1111 ', '1111 1111', '4111111111111111', 'alice@exa', 'mple.com', 'alice@example.com',
  '+1 415 555 ', '2671', 'TCK-12', '3456', 'see TCK-000000', 'naïve 日本語 🚀', '"quoted"\n\tand \\ \u0001', '', ' ', 'a', '7',
  'the gateway streams what the provider sends without holding it back. '.repeat(5),
  'data:image/png;base64,aGVsbG8=', '{"a":"project nightfall","b":[1,2]}',
];

type Json = null | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Body = { readonly [key: string]: Json };

function randomText(random: Random): string {
  return Array.from({ length: 1 + random.below(3) }, () => random.of(pieces)).join(random.of(['', ' ']));
}

function randomTurn(random: Random): Json {
  const text = () => randomText(random);
  const block = (): Json =>
    random.of<Json>([
      { type: random.of(['text', 'input_text']), text: text() },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: text(), limit: 4111111111111111 } },
      { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: text() }] },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
      { type: 'thinking', thinking: text(), signature: 'c2ln' },
      { [text()]: text(), file_id: 'file-1' },
      text(),
    ]);
  const role = random.of(['user', 'assistant', 'user', 'assistant', 'system', 'tool']);
  const content = random.below(2) === 0 ? text() : Array.from({ length: random.below(4) }, block);
  const item = random.of<Json>([
    { type: 'function_call', call_id: 'c', name: 'f', arguments: JSON.stringify({ q: text() }) },
    { type: 'function_call_output', call_id: 'c', output: text() },
    { type: 'item_reference', id: 'item_1' },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: text() }], encrypted_content: 'c2ln' },
  ]);
  if (random.below(40) === 0) return random.of<Json>([12, [1, 2], 'plain', null, []]);
  return random.below(5) === 0 ? item : { role, content };
}

const turnsField = {
  messages: 'messages',
  chat: 'messages',
  responses: 'input',
  embeddings: 'input',
  gemini: 'contents',
  gemini_embeddings: 'requests',
} as const;

/** A request with its fields in some order: the system's texts stand before the turns or behind them. */
export function randomBody(random: Random, dialect: DialectName, turns: number): Body {
  const text = () => randomText(random);
  const fields: (readonly [string, Json])[] = [
    ['model', 'sandbox-small'],
    ['max_tokens', 100],
    ['metadata', { user_id: text() }],
    ['tools', [{ name: 'Read', description: text(), input_schema: { type: 'object', properties: {} } }]],
    [turnsField[dialect], Array.from({ length: turns }, () => randomTurn(random))],
  ];
  const system = random.below(2) === 0 ? text() : [{ type: 'text', text: text() }];
  if (random.below(3) > 0) fields.push([dialect === 'responses' ? 'instructions' : 'system', system]);
  if (random.below(6) === 0) fields.push(['previous_response_id', 'resp_1']);
  const order = fields.map((field) => [random.next(), field] as const).sort(([one], [other]) => one - other);
  return Object.fromEntries(order.map(([, field]) => field));
}

/** A body that begins like another: longer, shorter, or changed somewhere. */
export function alteredBody(random: Random, dialect: DialectName, body: Body): Body {
  const field = turnsField[dialect];
  const turns = body[field] as readonly Json[];
  const more = Array.from({ length: 1 + random.below(3) }, () => randomTurn(random));
  const cut = random.below(turns.length + 1);
  const longer = { ...body, [field]: [...turns, ...more] };
  const { system: _, instructions: __, ...rest } = body;
  const text = randomText(random);
  return random.of<Body>([
    ...[longer, longer, longer],
    { ...body, [field]: [...turns.slice(0, cut), ...more] },
    { ...body, [field]: turns.slice(0, cut) },
    { ...body, [field]: [...turns.slice(0, cut), ...more, ...turns.slice(cut)] },
    { ...longer, system: text },
    { ...longer, instructions: text },
    { ...longer, metadata: { user_id: text }, last: text },
    rest,
    { ...body, [field]: text },
  ]);
}
