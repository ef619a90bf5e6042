import { describe, expect, test } from 'vitest';
import { findHost, traitsOf } from '../../src/hosts/find-host.ts';
import { nearestEffort, thinkingControl } from '../../src/hosts/models.ts';
import { type Cells, type HostRow, hosts, localCells, modelFamilies } from '../../src/hosts/registry.ts';
import { widelyAccepted } from '../../src/hosts/traits.ts';

const rows: readonly (readonly [name: string, cells: Cells])[] = [
  ...Object.entries<HostRow>(hosts).flatMap(([name, { cells, models = [] }]) => [
    [name, cells] as const,
    ...models.map((model) => [`${name} ${model.match}`, model.cells] as const),
  ]),
  ['local', localCells],
  ...modelFamilies.map(({ name, cells }) => [name, cells] as const),
];

test.each(rows)('each value of %s has a source and the month in which it was read', (_name, cells) => {
  for (const [, source] of Object.values(cells))
    expect(source).toMatch(/\S{5,}.*, 20\d\d-(?:0[1-9]|1[0-2])$/);
});

test('no two rows claim a name', () => {
  const names = Object.values(hosts).flatMap(({ names }) => [...names]);

  expect(names).toEqual([...new Set(names)]);
});

// biome-ignore format: a case a line
test.each([
  ['api.openai.com', 'openai'], ['eu.api.openai.com', 'openai'], ['me.openai.azure.com', 'azure'],
  ['me.cognitiveservices.azure.com', 'azure'], ['me.services.ai.azure.com', 'azure'],
  ['api.deepseek.com', 'deepseek'], ['api.moonshot.cn', 'moonshot'], ['api.mistral.ai', 'mistral'],
  ['us-central1-aiplatform.googleapis.com', 'vertex'], ['aiplatform.eu.rep.googleapis.com', 'vertex'],
  ['generativelanguage.googleapis.com', 'gemini'], ['localhost', 'local'], ['ollama.localhost', 'local'],
  ['127.0.0.1', 'local'], ['models.example.com', 'unknown'], ['api.openai.com.example.com', 'unknown'],
  ['codestral.mistral.ai', 'mistral'], ['eu.openrouter.ai', 'openrouter'], ['api.minimax.chat', 'minimax'],
  ['coding-intl.dashscope.aliyuncs.com', 'qwen'], ['coding.dashscope.aliyuncs.com', 'qwen'], ['me.openai.azure.us', 'azure'],
  ['me.services.ai.azure.us', 'azure'], ['token-plan.cn-beijing.maas.aliyuncs.com', 'qwen'], ['ollama.com', 'ollama'],
  ['xopenrouter.ai', 'unknown'], ['xollama.com', 'unknown'], ['127.0.0.1.example.com', 'unknown'],
])('%s is %s', (hostname, expected) => {
  expect(findHost({ dialect: 'openai', url: new URL(`https://${hostname}`) })).toBe(expected);
});

test.each([
  ['http://127.0.0.1:11434/v1', 'ollama'],
  ['http://localhost:1234/v1', 'lmstudio'],
  ['http://127.0.0.1:8080/v1', 'local'],
  ['http://ollama.example.com:11434/v1', 'unknown'],
])('%s is %s', (url, expected) => {
  expect(findHost({ dialect: 'openai', url: new URL(url) })).toBe(expected);
});

test.each(['bedrock-runtime.us-east-1.amazonaws.com', 'bedrock-mantle.eu-west-1.api.aws'])(
  'Claude at %s is at Bedrock, by its name alone',
  (hostname) => {
    const url = new URL(`https://${hostname}/anthropic`);

    expect(findHost({ dialect: 'anthropic', url })).toBe('bedrock');
    expect(findHost({ dialect: 'openai', url })).toBe('unknown');
  },
);

test('the configured host wins over the name, and the family decides where neither says', () => {
  expect(findHost({ dialect: 'openai', url: new URL('https://api.openai.com'), host: 'mistral' })).toBe(
    'mistral',
  );
  expect(findHost({ dialect: 'anthropic', url: new URL('https://proxy.example.com') })).toBe('anthropic');
});

describe('what a host takes', () => {
  test('is what most hosts accept where nothing is known', () => {
    expect(traitsOf({ host: 'unknown', targetModel: 'some-model' })).toEqual(widelyAccepted);
  });

  test.each(['unknown', 'local', 'vllm', 'litellm'] as const)(
    'follows the family of the model at %s, which serves many',
    (host) => {
      const traits = traitsOf({ host, targetModel: 'mistralai/Devstral-Small-2512' });

      expect(traits).toMatchObject({ callIds: 'nine_characters', userAfterTool: false });
    },
  );

  test('is not changed by the name of a model where a vendor serves its own', () => {
    expect(traitsOf({ host: 'openai', targetModel: 'kimi-k2' }).needsReasoning).toBe(false);
  });

  test('is known for a model by the name that a cloud gives it', () => {
    expect(
      nearestEffort('max', { host: 'bedrock', targetModel: 'us.anthropic.claude-opus-4-5-20251101-v1:0' }),
    ).toBe('high');
    expect(thinkingControl({ host: 'bedrock', targetModel: 'anthropic.claude-sonnet-4-5-v1:0' })).toBe(
      'budget',
    );
  });

  test.each([
    ['DeepSeek-V4-Pro', { tokenCap: 'max_tokens', openAiOptions: false, reasoning: 'reasoning_content' }],
    ['FW-Kimi-K2.6', { tokenCap: 'max_tokens', needsReasoning: true, reasonsIn: 'chat' }],
    ['Mistral-Large-3', { tokenCap: 'max_tokens', callIds: 'nine_characters', endUser: false }],
    ['gpt-oss-120b', { tokenCap: 'max_tokens', reasonsIn: 'chat' }],
    ['gpt-5.5', { tokenCap: 'max_completion_tokens', openAiOptions: true, reasonsIn: 'responses' }],
    ['gpt-4o', { tokenCap: 'max_completion_tokens', openAiOptions: true, reasonsIn: 'chat' }],
    ['our-deployment', { tokenCap: 'max_completion_tokens', openAiOptions: true, reasonsIn: 'chat' }],
  ] as const)("is that of the model's vendor at Azure: %s", (targetModel, expected) => {
    expect(traitsOf({ host: 'azure', targetModel })).toMatchObject(expected);
  });

  test.each([
    ['claude-opus-4.1', 'one', true],
    ['claude-opus-4-7', 'none', false],
    ['claude-3.7-sonnet:thinking', 'one', true],
    ['claude-sonnet-5', 'none', false],
  ] as const)('is known for %s at a router, with a dot or a hyphen', (model, sampling, lastAssistant) => {
    const traits = traitsOf({ host: 'openrouter', targetModel: `anthropic/${model}` });

    expect(traits).toMatchObject({ sampling, lastAssistant });
  });

  test.each([
    ['gpt-5-pro', 'none', 'high'],
    ['gpt-5.4-pro', 'low', 'medium'],
    ['gpt-5-codex', 'minimal', 'low'],
    ['gpt-5.1-codex', 'none', 'low'],
    ['gpt-5.1-codex-max', 'max', 'xhigh'],
    ['gpt-5.1', 'none', 'none'],
    ['gpt-6-astra', 'none', 'low'],
    ['gpt-5', 'none', 'minimal'],
  ] as const)('%s gets for the effort %s the effort %s', (targetModel, wanted, expected) => {
    expect(nearestEffort(wanted, { host: 'openai', targetModel })).toBe(expected);
  });

  test('has other efforts where another host says so', () => {
    const targetModel = 'deepseek-v4-pro';

    expect(nearestEffort('max', { host: 'deepseek', targetModel })).toBe('max');
    expect(nearestEffort('max', { host: 'azure', targetModel })).toBe('high');
  });

  test('differs for some models of a vendor', () => {
    expect(traitsOf({ host: 'vertex', targetModel: 'claude-opus-5' }).promptCache).toBe('breakpoints');
    expect(traitsOf({ host: 'vertex', targetModel: 'gemini-3-pro' }).promptCache).toBe('prefix');
    expect(traitsOf({ host: 'azure', targetModel: 'claude-opus-5' }).promptCache).toBe('breakpoints');
    expect(traitsOf({ host: 'zai', targetModel: 'glm-5' }).images).toEqual([]);
    expect(traitsOf({ host: 'zai', targetModel: 'glm-4.6v' }).images).toBe('any');
  });

  test.each(['gpt-5.5', 'openai/o3', 'gpt-6-sol'])(
    '%s has its cap under another name everywhere',
    (model) => {
      expect(traitsOf({ host: 'unknown', targetModel: model }).tokenCap).toBe('max_completion_tokens');
    },
  );

  test.each(['localhost', 'api.openai.com', 'openrouter.ai', 'api.groq.com'])(
    '%s is asked for the usage of a stream',
    (hostname) => {
      const host = findHost({ dialect: 'openai', url: new URL(`https://${hostname}`) });

      expect(traitsOf({ host, targetModel: 'm' }).streamUsage).toBe('asked');
    },
  );
});
