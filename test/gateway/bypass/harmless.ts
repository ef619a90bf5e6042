import { dialectNames } from '../../kit/dialects.ts';
import { type Bypass, base64, model, saying, turns } from './case.ts';
import { harmlessTexts } from './harmless-texts.ts';

type Harmless = readonly [endpoint: Bypass['endpoint'], name: string, body: unknown];

const tool = (content: unknown) =>
  turns('chat', { role: 'tool', tool_call_id: 'c', content: JSON.stringify(content) });
const properties = {
  phone: { type: 'string', description: 'in E.164, begins with +' },
  ssn: { type: 'string', pattern: '^\\d{3}-\\d{2}-\\d{4}$' },
  card: { type: 'string', minLength: 14, maxLength: 19 },
  ip: { type: 'string', format: 'ipv4' },
  email: { type: 'string', format: 'email', pattern: '^\\S+@\\S+$' },
  iban: { type: 'string', pattern: '^[A-Z]{2}\\d{2}' },
  at: { type: 'integer', minimum: 1_000_000_000_000, maximum: 9_999_999_999_999 },
};
const schema = { type: 'object', properties, required: [], additionalProperties: false };
const chart = Array.from({ length: 200 }, (_, at) => [
  1_736_253_296 + at * 60,
  Math.round(at * at * 7.31) / 100,
]);
const numbered = String(harmlessTexts.TypeScript)
  .split('\n')
  .map((line, at) => `${String(at + 1).padStart(6)}→${line}`);
const manyCalls = Array.from({ length: 40 }, (_, at) => {
  const id = `toolu_${String(at).padStart(24, '0')}`;
  const input = { file_path: `/home/dev/shop/src/part-${at}.ts`, offset: at * 100, limit: 100 };
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `${at}\n${at + 1}` }] },
  ];
});
const text = (data: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'text/plain', data },
});
const format = { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } };

// biome-ignore format: a case a line
const shapes: readonly Harmless[] = [
  ['messages', 'a file with numbered lines', saying('messages', numbered.join('\n'))],
  ['messages', 'many small calls of tools', turns('messages', ...manyCalls.flat())],
  ['messages', 'a document in base64', saying('messages', [text(base64(harmlessTexts.CSV ?? ''))])],
  ['messages', 'an answer that is begun', turns('messages', { role: 'user', content: 'a title' }, { role: 'assistant', content: '{' })],
  ['count_tokens', 'a count of tokens', saying('count_tokens', 'foo', { tools: [{ name: 'Read', input_schema: schema }] })],
  ['chat', 'a long number that is only a number', saying('chat', 'go', { seed: 9007199254740991, metadata: { trace: '4bf92f3577b34da6a3ce929d0e0e4736' } })],
  ['chat', 'an answer by a schema', saying('chat', 'one plant', { response_format: format })],
  ['chat', 'a tool with every kind of schema', saying('chat', 'x', { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] })],
  ['chat', 'a chart in the output of a tool', tool({ series: chart })],
  ['gemini', 'a tool with every kind of schema, and an answer by it', saying('gemini', 'x', { tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }], generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } })],
  ['gemini', 'a document in base64', turns('gemini', { role: 'user', parts: [{ inlineData: { mimeType: 'text/csv', data: base64(harmlessTexts.CSV ?? '') } }] })],
  ['embeddings', 'many texts', { model: model.embeddings, input: Object.values(harmlessTexts), encoding_format: 'base64' }],
];

/** Requests that must pass with every detector and text rule switched on. */
export const harmless: readonly Harmless[] = [
  ...shapes,
  ...Object.entries(harmlessTexts).map(([name, said], at): Harmless => {
    const endpoint = dialectNames[at % dialectNames.length] ?? 'chat';
    return [endpoint, name, saying(endpoint, said)];
  }),
];
