import { describe, expect, test } from 'vitest';
import { buildParameters } from '../../../src/config/build/parameters.ts';
import { createReport } from '../../../src/config/source/report.ts';
import { adjust } from '../../../src/gateway/decision/parameters.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';

interface Changes {
  readonly set?: Readonly<Record<string, string | number | boolean | string[]>>;
  readonly default?: Readonly<Record<string, string | number | boolean | string[]>>;
  readonly remove?: string[];
}

function change(body: string, changes: Changes) {
  const report = createReport({ source: undefined, references: [] });
  const parameters = buildParameters(['models', 0], changes, report) ?? [];
  expect(report.problems).toEqual([]);
  const { body: made, changed } = adjust(Buffer.from(body), parameters);
  return { text: made.toString(), changed };
}

describe('a body', () => {
  test.each<readonly [string, string, Changes, string, readonly string[]]>([
    [
      'gets a member',
      '{ "model":"m"}',
      { set: { temperature: 0.5 } },
      '{"temperature":0.5, "model":"m"}',
      ['temperature'],
    ],
    [
      'gets another value in its place',
      '{"seed":9007199254740993, "temperature" : 1 }',
      { set: { temperature: 0.5 } },
      '{"seed":9007199254740993, "temperature" : 0.5 }',
      ['temperature'],
    ],
    [
      'gets a text in place of a text',
      '{"a":1,"verbosity":"h\\u0069gh"}',
      { set: { verbosity: 'low' } },
      '{"a":1,"verbosity":"low"}',
      ['verbosity'],
    ],
    [
      'gets a text in place of an object',
      '{"verbosity":{"a":"b"},"a":1}',
      { set: { verbosity: 'low' } },
      '{"verbosity":"low","a":1}',
      ['verbosity'],
    ],
    [
      'keeps what the client sent over a default',
      '{"temperature":0}',
      { default: { temperature: 0.5 } },
      '{"temperature":0}',
      [],
    ],
    [
      'gets a default in place of null',
      '{"temperature":null}',
      { default: { temperature: 0.5 } },
      '{"temperature":0.5}',
      ['temperature'],
    ],
    [
      'keeps its bytes where the value is there',
      '{"temperature":0.5}',
      { set: { temperature: 0.5 } },
      '{"temperature":0.5}',
      [],
    ],
    ['loses its last member', '{"a":1 , "top_k":2 }', { remove: ['top_k'] }, '{"a":1 }', ['top_k']],
    [
      'loses its only member and gets another',
      '{"top_k":1}',
      { remove: ['top_k'], set: { seed: 1 } },
      '{"seed":1}',
      ['top_k', 'seed'],
    ],
    [
      'gets members of one object that it lacks',
      '{"a":1}',
      { set: { 'provider.order': ['x'], 'provider.sort': 'price' } },
      '{"provider":{"order":["x"],"sort":"price"},"a":1}',
      ['provider.order', 'provider.sort'],
    ],
    [
      'gets members of an empty object',
      '{"provider":{ }}',
      { set: { 'provider.order': ['x'], 'provider.sort': 'price' } },
      '{"provider":{"order":["x"],"sort":"price" }}',
      ['provider.order', 'provider.sort'],
    ],
    [
      'keeps the neighbours of a member',
      '{"provider":{"zdr":true}}',
      { set: { 'provider.sort': 'price' } },
      '{"provider":{"sort":"price","zdr":true}}',
      ['provider.sort'],
    ],
    [
      'keeps what is no object over a default in it',
      '{"reasoning":"x"}',
      { default: { 'reasoning.effort': 'low' } },
      '{"reasoning":"x"}',
      [],
    ],
    ['has no object made to remove from it', '{"a":1}', { remove: ['reasoning.effort'] }, '{"a":1}', []],
    [
      'of Google is changed in its other spelling',
      '{"generation_config":{"temperature":2,"thinking_config":{"thinkingBudget":9}}}',
      { set: { 'generationConfig.temperature': 0.1, 'generationConfig.thinkingConfig.thinkingBudget': 0 } },
      '{"generation_config":{"temperature":0.1,"thinking_config":{"thinkingBudget":0}}}',
      ['generationConfig.temperature', 'generationConfig.thinkingConfig.thinkingBudget'],
    ],
    [
      'of Google is changed in both spellings',
      '{"generationConfig":{"topP":1,"seed":1},"generation_config":{"top_p":2,"seed":2,"topK":1}}',
      { set: { 'generationConfig.topP': 0.5 }, remove: ['generationConfig.seed'] },
      '{"generationConfig":{"topP":0.5},"generation_config":{"top_p":0.5,"topK":1}}',
      ['generationConfig.topP', 'generationConfig.seed'],
    ],
    [
      'of Google keeps over a default what was sent in the other spelling',
      '{"generationConfig":{},"generation_config":{"top_p":1}}',
      { default: { 'generationConfig.topP': 0.5, 'generationConfig.topK': 3 } },
      '{"generationConfig":{"topK":3},"generation_config":{"top_p":1}}',
      ['generationConfig.topK'],
    ],
    [
      'of free names is not another one in other spelling',
      '{"chat_template_kwargs":{"my_flag":1}}',
      { set: { 'chat_template_kwargs.myFlag': 2 } },
      '{"chat_template_kwargs":{"myFlag":2,"my_flag":1}}',
      ['chat_template_kwargs.myFlag'],
    ],
    [
      'holds what a setting of two names is by the other',
      '{"reasoning":{"effort":"high"},"enable_thinking":true}',
      { set: { reasoning_effort: 'low', 'chat_template_kwargs.enable_thinking': false } },
      '{"reasoning_effort":"low","chat_template_kwargs":{"enable_thinking":false},"reasoning":{"effort":"low"},"enable_thinking":false}',
      ['reasoning_effort', 'reasoning.effort', 'chat_template_kwargs.enable_thinking', 'enable_thinking'],
    ],
    [
      'loses a setting of two names by either',
      '{"reasoning":{"effort":"high"},"a":1}',
      { remove: ['reasoning_effort'] },
      '{"reasoning":{},"a":1}',
      ['reasoning.effort'],
    ],
    [
      'keeps over a default what was sent by the other name',
      '{"reasoning_effort":"high"}',
      { default: { 'reasoning.effort': 'low', 'reasoning.exclude': true } },
      '{"reasoning":{"exclude":true},"reasoning_effort":"high"}',
      ['reasoning.exclude'],
    ],
    [
      'with both names in the file gets each as it says',
      '{"reasoning":{"effort":"high"}}',
      { set: { reasoning_effort: 'low' }, default: { 'reasoning.effort': 'medium' } },
      '{"reasoning_effort":"low","reasoning":{"effort":"high"}}',
      ['reasoning_effort'],
    ],
  ])('%s', (_, body, changes, text, changed) => {
    const made = change(body, changes);

    expect(made.text).toBe(text);
    expect([...made.changed].sort()).toEqual([...changed].sort());
  });
});

type Value = string | number | boolean | null | { [name: string]: Value };

/** What is to become of a body, on values. */
function expected(
  body: Readonly<Record<string, Value>>,
  { set = {}, default: defaults = {}, remove = [] }: Changes,
) {
  const made = structuredClone(body) as Record<string, Value>;
  const isObject = (value: Value | undefined): value is Record<string, Value> =>
    typeof value === 'object' && value !== null;
  const put = (path: string, value: unknown, isDefault: boolean) => {
    const steps = path.split('.');
    const last = steps.pop() as string;
    let at = made;
    for (const step of steps) {
      const inner = at[step];
      if (isDefault && inner !== undefined && inner !== null && !isObject(inner)) return;
      if (!isObject(inner)) at[step] = {};
      at = at[step] as Record<string, Value>;
    }
    if (!isDefault || (at[last] ?? null) === null) at[last] = value as Value;
  };
  for (const path of remove) {
    const steps = path.split('.');
    const last = steps.pop() as string;
    const at = steps.reduce<Value | undefined>(
      (inner, step) => (isObject(inner) ? inner[step] : undefined),
      made,
    );
    if (isObject(at)) delete at[last];
  }
  for (const [path, value] of Object.entries(set)) put(path, value, false);
  for (const [path, value] of Object.entries(defaults)) put(path, value, true);
  return made;
}

const paths = ['a', 'b', 'c.x', 'c.y', 'd.e.f', 'd.e.g', 'd.h'] as const;

function someValue(random: Random, depth = 0): Value {
  const kind = random.below(depth < 3 ? 8 : 4);
  if (kind === 0) return 'te"xt\u00e9';
  if (kind === 1) return null;
  if (kind < 4) return random.below(100);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'x', 'y'].filter(() => random.below(3) === 0);
  return Object.fromEntries(names.map((name) => [name, someValue(random, depth + 1)]));
}

test('generated bodies are changed as a model on values says, and all other bytes stay', () => {
  const random = createRandom(52);
  for (let i = 0; i < scale(2_000, 100_000); i += 1) {
    const whole = ['a', 'b', 'c', 'd', 'z'].filter(() => random.below(2) === 0);
    const body = Object.fromEntries(whole.map((name) => [name, someValue(random)]));
    const changes: { set: Record<string, number>; default: Record<string, number>; remove: string[] } = {
      set: {},
      default: {},
      remove: [],
    };
    for (const path of paths) {
      const kind = random.below(6);
      if (kind === 0) changes.set[path] = random.below(100);
      else if (kind === 1) changes.default[path] = random.below(100);
      else if (kind === 2) changes.remove.push(path);
    }
    const indent = random.of([undefined, 1, '\t']);
    const text = JSON.stringify(body, undefined, indent);
    const made = change(text, changes);

    const should = expected(body, changes);
    expect(JSON.parse(made.text), JSON.stringify({ text, changes })).toEqual(should);
    if (made.changed.length === 0) expect(made.text).toBe(text);
  }
});
