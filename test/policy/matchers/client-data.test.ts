import { expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

const thinking = policyOf({ id: 't', action: 'block', when: { thinking: true } });
const caps = policyOf({ id: 'c', action: 'block', when: { max_output_tokens: { over: 1000 } } });
const named = { reasoning: 'eval-42', think: true, max_tokens: 5000 };
const schema = {
  type: 'object',
  properties: { reasoning: { type: 'string' }, max_tokens: { type: 'integer' } },
  $defs: { thinking: { type: 'string' }, max_tokens: { type: 'integer' } },
};

test.each<object>([
  { metadata: named },
  { client_metadata: named },
  { labels: named },
  { prompt: { id: 'a', variables: named } },
  { structured_outputs: { json: schema } },
  { guided_json: schema },
  { extra_body: { guided_json: { anyOf: [schema], $defs: named } } },
  { json_schema: schema },
  { format: schema },
  { text: { format: { type: 'json_schema', name: 'a', schema } } },
  { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
  { generationConfig: { responseJsonSchema: schema } },
  { generationConfig: { _responseJsonSchema: schema } },
  { answer_as: schema },
  { answer_as: { type: 'array', items: schema } },
])("names in a client's data and in schemas are only names: %j", (data) => {
  const body = { ...saying('hi'), ...data };

  expect(thinking(body).action).toBe('allow');
  expect(caps(body).action).toBe('allow');
  // What stands beside and after them still counts.
  expect(thinking({ ...body, think: true }).action).toBe('block');
  expect(caps({ ...body, options: { num_predict: 5000 } }).refusal?.at).toBe('/options/num_predict');
});

test('what only looks like a schema hides no settings beside its properties', () => {
  const body = {
    ...saying('hi'),
    options: { type: 'object', properties: {}, think: true, num_predict: 5000 },
  };

  expect(thinking(body).action).toBe('block');
  expect(caps(body).refusal?.at).toBe('/options/num_predict');
});
