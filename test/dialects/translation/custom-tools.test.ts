import { describe, expect, test } from 'vitest';
import { createInputUnwrapper } from '../../../src/dialects/translation/unwrap-stream.ts';
import { readStrictly } from './read-strictly.ts';
import { runStream, startTranslation } from './run-translation.ts';

const patch = '*** Begin "Patch"\n\tüber \\ 🌿\u2028\n';

const request = {
  model: 'asked-for',
  input: 'hi',
  tools: [
    { type: 'custom', name: 'apply_patch' },
    { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn', parameters: {} }] },
  ],
};

/** The stream of a chat host that calls a tool with these pieces of input, as a Responses client gets it. */
function streamed(name: string, pieces: readonly string[]): string {
  const calls = [
    { index: 0, id: 'call_0', function: { name, arguments: '' } },
    ...pieces.map((piece) => ({ index: 0, function: { arguments: piece } })),
  ];
  const choices = [
    ...calls.map((call) => ({ index: 0, delta: { tool_calls: [call] } })),
    { index: 0, delta: {}, finish_reason: 'tool_calls' },
  ];
  const lines = choices.map((choice) => JSON.stringify({ choices: [choice] }));
  const stream = [...lines, '[DONE]'].map((line) => `data: ${line}\n\n`).join('');
  return runStream(startTranslation('responses', 'chat', request), [Buffer.from(stream)]).text;
}

/** The calls of a chat host's whole answer, as a Responses client gets them; their names are their ids. */
function called(request: object, ...calls: readonly (readonly [name: string, input: string])[]): unknown {
  const tool_calls = calls.map(([name, input]) => ({ id: name, function: { name, arguments: input } }));
  const { body } = startTranslation('responses', 'chat', request).answer({
    choices: [{ message: { tool_calls } }],
  });
  return (body as { output: unknown }).output;
}

describe('a custom tool at a provider that knows only functions', () => {
  test('streams its text as custom input, unwrapped piece by piece', () => {
    const text = streamed('apply_patch', [...JSON.stringify({ input: patch })]);

    expect(readStrictly('responses', text).calls).toEqual([{ name: 'apply_patch', input: patch }]);
    expect(text.split('response.custom_tool_call_input.delta').length).toBeGreaterThan(10);
  });

  test('that a model has called without the wrapping gets what it wrote when the stream ends', () => {
    const text = streamed('apply_patch', ['*** ', 'Begin']);

    expect(readStrictly('responses', text).calls).toEqual([{ name: 'apply_patch', input: '*** Begin' }]);
  });

  test('has its text in a whole answer', () => {
    const input = JSON.stringify({ input: patch });

    expect(called(request, ['apply_patch', input])).toMatchObject([
      { type: 'custom_tool_call', call_id: 'apply_patch', input: patch },
    ]);
  });

  test('comes back to a chat client as a custom call', () => {
    const custom = { model: 'm', messages: [], tools: [{ type: 'custom', custom: { name: 'patch' } }] };

    const { body } = startTranslation('chat', 'messages', custom).answer({
      content: [{ type: 'tool_use', id: 't', name: 'patch', input: { input: 'x' } }],
      stop_reason: 'tool_use',
    });

    expect(body).toMatchObject({
      choices: [
        { message: { tool_calls: [{ id: 't', type: 'custom', custom: { name: 'patch', input: 'x' } }] } },
      ],
    });
  });
});

test('a call into a namespace comes back with name and namespace apart', () => {
  const text = streamed('agents__spawn', ['{"n":', '1}']);

  expect(text).toContain('"call_id":"call_0","name":"spawn","namespace":"agents"');
  expect(text).not.toContain('agents__spawn');
});

describe('createInputUnwrapper', () => {
  const cases: readonly [name: string, wrapped: string, text: string][] = [
    ['plain text', '{"input":"abc"}', 'abc'],
    ['white space', ' { "input" :\n "abc" } ', 'abc'],
    ['every escape', '{"input":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fc\\ud83c\\udf3f"}', '"\\/\b\f\n\r\tü🌿'],
    ['no text', '{"input":""}', ''],
    ['another member first', '{"x":1,"input":"abc"}', 'abc'],
    ['no JSON at all', 'abc', 'abc'],
    ['another object', '{"patch":"abc"}', '{"patch":"abc"}'],
    ['text that was cut', '{"input":"ab', 'ab'],
  ];

  test.each(cases)('takes the text out of %s, in one piece or by character', (_name, wrapped, text) => {
    for (const pieces of [[wrapped], [...wrapped]]) {
      const unwrapper = createInputUnwrapper();

      const parts = pieces.map((piece) => unwrapper.add(piece));

      expect(parts.join('') + unwrapper.end()).toBe(text);
    }
  });
});

test('the offered tool decides what a name is, not a call in the history', () => {
  const history = [
    { type: 'function_call', call_id: 'a', name: 'apply_patch', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'x' },
  ];

  expect(called({ ...request, input: history }, ['apply_patch', '{"input":"x"}'])).toMatchObject([
    { type: 'custom_tool_call', input: 'x' },
  ]);
});

test('a function named like a flattened namespace keeps apart from it', () => {
  const tools = [...request.tools, { type: 'function', name: 'agents__spawn', parameters: {} }];
  const translation = startTranslation('responses', 'chat', { ...request, tools });
  const wire = translation.request({ ...request, tools }).body as { tools: { function: { name: string } }[] };
  const names = wire.tools.map((tool) => tool.function.name);

  const { body } = translation.answer({
    choices: [{ message: { tool_calls: names.slice(1).map((name) => ({ id: name, function: { name } })) } }],
  });

  expect(new Set(names).size).toBe(3);
  expect(body).toMatchObject({
    output: [
      { name: 'spawn', namespace: 'agents' },
      { name: 'agents__spawn', type: 'function_call' },
    ],
  });
  expect((body as { output: object[] }).output[1]).not.toHaveProperty('namespace');
});
