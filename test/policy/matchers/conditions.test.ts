import { describe, expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

const body = saying('hi');
const block = (when: object) => policyOf({ id: 'a', action: 'block', when });

test('a rule may name endpoints', () => {
  const decide = block({ endpoint: ['embeddings', 'chat'] });

  expect(decide(body, { endpoint: 'chat' }).action).toBe('block');
  expect(decide(body, { endpoint: 'messages' }).action).toBe('allow');
});

test('messages counts the turns of each dialect', () => {
  const turns = (count: number) => Array.from({ length: count }, () => ({ role: 'user', content: 'hi' }));
  const decide = block({ messages: { over: 2 } });

  expect(decide({ messages: turns(2) }).action).toBe('allow');
  expect(decide({ messages: turns(3) }).refusal?.at).toBe('/messages');
  expect(decide({ input: turns(3) }, { endpoint: 'responses' }).action).toBe('block');
  expect(decide({ input: 'hi' }, { endpoint: 'responses' }).action).toBe('allow');
});

test('bytes counts the body', () => {
  const decide = block({ bytes: { over: 200 } });

  expect(decide(body).action).toBe('allow');
  expect(decide(saying('x'.repeat(200))).action).toBe('block');
});

describe('model', () => {
  const decide = block({ model: ['gpt-*', 'o?'] });

  test.each([
    ['gpt-4o', 'block'],
    ['o3', 'block'],
    ['o3-mini', 'allow'],
    ['xgpt-4o', 'allow'],
    // Some hosts ignore case.
    ['GPT-4o', 'block'],
    ['O3', 'block'],
  ])('globs match whole names: %s', (model, action) => {
    expect(decide(body, { model }).action).toBe(action);
  });

  test('the name at any provider counts, and those in a list of substitutes', () => {
    expect(decide(body, { model: 'fast', targetModels: ['llama3', 'gpt-4o-mini'] }).refusal?.at).toBe(
      '/model',
    );
    expect(decide({ messages: [], models: ['a', 'gpt-4o'] }).action).toBe('block');
    expect(decide({ messages: [], plugins: [{ id: 'x', allowed_models: ['a', 'gpt-4o'] }] }).action).toBe(
      'block',
    );
    expect(decide({ messages: [], plugins: [{ id: 'x', model: 'gpt-4o' }] }).action).toBe('block');
  });

  test('a preset is a model that only its account knows', () => {
    const only = policyOf({ id: 'm', action: 'block', unless: { model: ['gpt-*', '@preset/ours'] } });

    expect(only({ messages: [], preset: 'ours' }, { model: 'gpt-4o' }).action).toBe('allow');
    expect(only({ messages: [], preset: 'other' }, { model: 'gpt-4o' }).action).toBe('block');
  });

  test('a pattern may be written in any case, but an exception matches only as written', () => {
    const only = policyOf({ id: 'm', action: 'block', unless: { model: ['gpt-*'] } });

    expect(block({ model: ['GPT-*'] })(body, { model: 'gpt-4o' }).action).toBe('block');
    expect(only(body, { model: 'gpt-4o' }).action).toBe('allow');
    expect(only(body, { model: 'GPT-4o' }).action).toBe('block');
    expect(only(body, { model: 'gpt-4o', targetModels: ['llama3'] }).action).toBe('block');
  });
});

test('project and key are globs', () => {
  const byProject = block({ project: ['shop*'] });
  const byKey = block({ key: ['shop-web'] });

  expect(byProject(body, { project: 'shop-2' }).action).toBe('block');
  expect(byProject(body, { project: 'lab' }).action).toBe('allow');
  expect(byKey(body, { key: 'shop-web' }).action).toBe('block');
  expect(byKey(body, { key: 'shop-ci' }).action).toBe('allow');
});

test('stream asks how the answer is wanted', () => {
  const decide = block({ stream: true });

  expect(decide(body, { stream: true }).refusal?.at).toBe('/stream');
  expect(decide(body, { stream: false }).action).toBe('allow');
});

describe('time', () => {
  const at = (when: unknown, nowMs: number) => block({ time: when })(body, { nowMs }).action;

  test('knows days and hours in UTC', () => {
    const wednesdayNoon = Date.UTC(2026, 0, 7, 12, 0);

    expect(at({ days: ['wed'] }, wednesdayNoon)).toBe('block');
    expect(at({ days: ['tue'] }, wednesdayNoon)).toBe('allow');
    expect(at({ hours: ['09:00-12:00'] }, wednesdayNoon)).toBe('allow');
    expect(at({ hours: ['09:00-12:01'] }, wednesdayNoon)).toBe('block');
    expect(at({ days: ['wed'], hours: ['13:00-24:00'] }, wednesdayNoon)).toBe('allow');
  });

  test('accepts hours past midnight', () => {
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 23, 0))).toBe('block');
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 5, 59))).toBe('block');
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 6, 0))).toBe('allow');
    // Of the night from Wednesday to Thursday.
    expect(at({ days: ['wed'], hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 23, 0))).toBe('block');
    expect(at({ days: ['wed'], hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 8, 5, 59))).toBe('block');
    expect(at({ days: ['wed'], hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 5, 59))).toBe('allow');
    expect(at({ days: ['sat'], hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 11, 1, 0))).toBe('block');
  });

  test('knows zones and their summer time', () => {
    const noon = { hours: ['12:00-13:00'], zone: 'Europe/Berlin' };

    expect(at(noon, Date.UTC(2026, 0, 7, 11, 30))).toBe('block');
    expect(at(noon, Date.UTC(2026, 6, 7, 10, 30))).toBe('block');
    expect(at(noon, Date.UTC(2026, 6, 7, 11, 30))).toBe('allow');
  });
});

describe('thinking', () => {
  const thinks = (settings: object) => block({ thinking: true })({ ...body, ...settings }).action === 'block';

  test.each<object>([
    { reasoning_effort: 'minimal' },
    { reasoning: { effort: 'low' } },
    { reasoning: { max_tokens: 100 } },
    { reasoning: { enabled: true } },
    { reasoning: true },
    { reasoning_effort: 'none', reasoning: { effort: 'high' } },
    { thinking: { type: 'adaptive' } },
    { thinking: { budget_tokens: 1_000 } },
    { thinking: { type: 'disabled', budget_tokens: 1_000 } },
    { enable_thinking: true },
    { enableThinking: true },
    { thinking_budget: 1_000 },
    { think: true },
    { think: 'high' },
    { chat_template_kwargs: { enable_thinking: true } },
    { chat_template_kwargs: { thinking: true } },
    { chat_template_kwargs: { reasoning_effort: 'high' } },
    { extra_body: { google: { thinking_config: { thinking_budget: 100 } } } },
    { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } },
    { generationConfig: { thinking_config: { thinkingBudget: 100 } } },
    { generationConfig: { thinkingConfig: { thinking_budget: 100 } } },
    { generationConfig: { thinkingConfig: { thinkingBudget: 0, thinking_budget: 100 } } },
    { generation_config: { thinkingConfig: { thinking_level: 'HIGH' } } },
  ])('is asked for in the words of any host: %j', (settings) => {
    expect(thinks(settings)).toBe(true);
  });

  test.each<object>([
    { reasoning_effort: 'none' },
    { reasoning_effort: '' },
    { reasoning: { effort: '' } },
    { reasoning: { enabled: false } },
    { reasoning: { summary: 'auto' } },
    { reasoning: null },
    { thinking: { type: 'disabled' } },
    { think: false },
    { enable_thinking: 'false' },
    { generationConfig: { thinkingConfig: { thinkingBudget: 0, includeThoughts: true } } },
    { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'I say hi' }] }] },
    { tools: [{ name: 'think', input_schema: { properties: { thinking: { type: 'string' } } } }] },
    { output_config: { format: { type: 'json_schema', schema: { reasoning: { type: 'string' } } } } },
  ])('is not asked for by %j', (settings) => {
    expect(thinks(settings)).toBe(false);
  });
});

describe('documents', () => {
  const pdf = Buffer.from('%PDF-1.4\n').toString('base64');
  const png = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1').toString('base64');
  const has = (kind: 'documents' | 'images', part: object) =>
    block({ [kind]: true })(saying([part])).action === 'block';

  test.each<object>([
    { type: 'document_url', document_url: 'https://host.example/a' },
    { type: 'file_url', file_url: { url: 'https://host.example/a' } },
    { type: 'image_url', image_url: { url: `data:application/pdf;base64,${pdf}` } },
    { type: 'image_url', image_url: `data:image/png;base64,${pdf}` },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pdf } },
    { inlineData: { mime_type: 'image/png', data: pdf } },
  ])('are %j', (part) => {
    expect(has('documents', part)).toBe(true);
    expect(has('images', part)).toBe(false);
  });

  test.each<object>([
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { inlineData: { mimeType: 'image/png', data: png } },
  ])('are not %j', (part) => {
    expect(has('documents', part)).toBe(false);
    expect(has('images', part)).toBe(true);
  });
});
