import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newestOpenAi } from '../../kit/openai.ts';
import { policyOf } from '../deciding.ts';

// A tool's result is one wherever the official SDK's items have it: in an item of its own, or beside the call.
const decide = policyOf({
  id: 'phrase',
  action: 'block',
  when: { text: { phrases: ['project nightfall'], in: ['tool_result'] } },
});
const file = join(newestOpenAi, 'resources/responses/responses.d.ts');
const resultFields = ['output', 'outputs', 'results', 'result', 'logs', 'error'];

/** Types of items with a field for results, and that field. */
const items = [
  ...readFileSync(file, 'utf8').matchAll(/(?:^| {4})(?:export )?interface \w+ \{([\s\S]*?)\n(?: {4})?\}/gm),
].flatMap(([, body = '']) => {
  const type = /^ +type: '(\w+_(?:call|output))';/m.exec(body)?.[1];
  return type === undefined
    ? []
    : resultFields
        .filter((field) => new RegExp(`^ +${field}\\??: `, 'm').test(body))
        .map((field) => [type, field] as const);
});

test('all items with results are known', () => {
  const types = new Set(items.map(([type]) => type));
  expect([...types]).toEqual(
    expect.arrayContaining(['mcp_call', 'code_interpreter_call', 'file_search_call', 'function_call_output']),
  );
});

test.each(items.filter(([type]) => type !== 'image_generation_call'))('%s: %s', (type, field) => {
  const item = { type, call_id: 'c', [field]: 'about project nightfall' };
  const nested = { type, call_id: 'c', [field]: [{ text: 'about project nightfall' }] };

  expect(decide({ input: [item] }, { endpoint: 'responses' }).action).toBe('block');
  expect(decide({ input: [nested] }, { endpoint: 'responses' }).action).toBe('block');
});
