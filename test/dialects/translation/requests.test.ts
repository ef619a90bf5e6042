import { describe, expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import { scale } from '../../kit/scale.ts';
import { newContext } from './run-translation.ts';

function request(
  client: TextDialectName,
  provider: TextDialectName,
  body: object,
  changes: Partial<TranslationContext> = {},
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
): any {
  return createTranslation(dialects[client], dialects[provider], newContext(changes)).request({
    model: 'asked-for',
    ...body,
  }).body;
}

const chatCall = (id: string, name: string, input: string) => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const pngUrl = 'data:image/png;base64,AAAA';

describe('messages to chat', () => {
  const toolTurn = [
    { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Köln' } },
        { type: 'tool_use', id: 'toolu_2', name: 'get_time', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'and now?' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'noon' }, png] },
        { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'no network' },
      ],
    },
  ];

  test('a tool turn has results in the order of the calls, before any text, and images after them', () => {
    const { messages } = request('messages', 'chat', { max_tokens: 10, messages: toolTurn });

    expect(messages).toEqual(
      // biome-ignore format: a case a line
      [
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            chatCall('toolu_1', 'get_weather', '{"city":"Köln"}'),
            chatCall('toolu_2', 'get_time', '{}'),
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'Error: no network' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'noon\n\n[the content of this result follows in the next user message]' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: pngUrl } }, { type: 'text', text: 'and now?' }] },
      ],
    );
  });

  test('an assistant turn with calls only has null for content', () => {
    const { messages } = request('messages', 'chat', {
      max_tokens: 10,
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] }],
    });

    expect(messages[0].content).toBeNull();
    expect(messages[1]).toEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: 'Error: no result was recorded for this call',
    });
  });

  test('a result without its call is refused with its place', () => {
    const messages = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] }];

    expect(() => request('messages', 'chat', { max_tokens: 10, messages })).toThrow(
      expect.objectContaining({ code: 'request.unsupported', param: 'messages[0].content[0]' }),
    );
  });

  const withLaterSystem = {
    max_tokens: 10,
    system: [
      { type: 'text', text: 'one', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'two' },
    ],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'be brief' },
      { role: 'assistant', content: 'yes' },
    ],
  };

  test('system text in the middle stays a system message at OpenAI, and is a marked user text elsewhere', () => {
    const { messages } = request('messages', 'chat', withLaterSystem, { host: 'openai' });
    const { messages: elsewhere } = request('messages', 'chat', withLaterSystem);

    expect(messages).toEqual([
      { role: 'system', content: 'one\n\ntwo' },
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'be brief' },
      { role: 'assistant', content: 'yes' },
    ]);
    expect(elsewhere[1]).toEqual({ role: 'user', content: 'hi\n\n<system>\nbe brief\n</system>' });
  });

  test.each([
    ['unknown', { max_tokens: 8_192 }],
    ['openai', { max_completion_tokens: 8_192 }],
  ] as const)('asks a host (%s) for usage when streaming, and lowers the limit', (host, limit) => {
    const body = { max_tokens: 128_000, stream: true, messages: [{ role: 'user', content: 'hi' }] };

    expect(request('messages', 'chat', body, { host, maxOutputTokens: 8_192 })).toEqual({
      model: 'target-model',
      messages: [{ role: 'user', content: 'hi' }],
      ...limit,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  const tool = { name: 'f', input_schema: { type: 'object' } };
  const search = { type: 'web_search_20250305', name: 'web_search' };

  test('a dated server tool that is forced is refused', () => {
    const choice = { type: 'tool', name: 'web_search' };
    const body = { max_tokens: 10, messages: [], tools: [tool, search], tool_choice: choice };

    expect(() => request('messages', 'chat', body)).toThrow(
      expect.objectContaining({ code: 'request.unsupported', param: 'tool_choice' }),
    );
  });

  test.each([
    [{ type: 'auto' }, 'auto', undefined],
    [{ type: 'any', disable_parallel_tool_use: true }, 'required', false],
    [{ type: 'none' }, 'none', undefined],
    [{ type: 'tool', name: 'f' }, { type: 'function', function: { name: 'f' } }, undefined],
  ])('the choice %j becomes %j', (choice, expected, parallel) => {
    const body = { max_tokens: 10, messages: [], tools: [tool], tool_choice: choice };

    const sent = request('messages', 'chat', body);

    expect(sent.tool_choice).toEqual(expected);
    expect(sent.parallel_tool_calls).toBe(parallel);
  });

  test('thirty tools with long names keep apart, the same in each turn, and the answer has the long names again', () => {
    const names = Array.from({ length: 30 }, (_each, index) => `mcp__${'server_'.repeat(12)}__tool_${index}`);
    const translation = createTranslation(dialects.messages, dialects.chat, newContext());
    const called = { type: 'tool_use', id: 'a', name: names[7], input: {} };

    const sent = translation.request({
      max_tokens: 10,
      messages: [],
      tools: names.map((name) => ({ name, input_schema: {} })),
    }).body as { tools: { function: { name: string } }[] };
    const wireNames = sent.tools.map((each) => each.function.name);
    const { body } = translation.answer({
      choices: [{ message: { tool_calls: wireNames.map((name) => ({ id: name, function: { name } })) } }],
    });
    const history = [{ role: 'assistant', content: [called] }];
    const { messages } = request('messages', 'chat', { max_tokens: 1, messages: history });

    expect(new Set(wireNames).size).toBe(30);
    expect(wireNames.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
    expect((body as { content: { name: string }[] }).content.map((block) => block.name)).toEqual(names);
    expect(messages[0].tool_calls[0].function.name).toBe(wireNames[7]);
  });
});

describe('chat to messages', () => {
  test('a tool turn is one user message with all results first, and joins the next user message', () => {
    const sent = request('chat', 'messages', {
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: 'two' },
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            chatCall('call.1', 'get_weather', '{"city":"Köln"}'),
            chatCall('call_2', 'get_time', ''),
            chatCall('call_3', 'lost', '{'),
          ],
        },
        { role: 'tool', tool_call_id: 'call_2', content: 'noon' },
        { role: 'tool', tool_call_id: 'call.1', content: '' },
        { role: 'user', content: 'and now?' },
        { role: 'system', content: 'be brief' },
      ],
    });

    expect(sent).toEqual({
      model: 'target-model',
      max_tokens: 32_000,
      system: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call2e1', name: 'get_weather', input: { city: 'Köln' } },
            { type: 'tool_use', id: 'call_2', name: 'get_time', input: {} },
            { type: 'tool_use', id: 'call_3', name: 'lost', input: { raw_arguments: '{' } },
          ],
        },
        {
          role: 'user',
          // biome-ignore format: a case a line
          content: [
            { type: 'tool_result', tool_use_id: 'call2e1' },
            { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'noon' }] },
            { type: 'tool_result', tool_use_id: 'call_3', content: [{ type: 'text', text: 'no result was recorded for this call' }], is_error: true },
            { type: 'text', text: 'and now?' },
            { type: 'text', text: '<system>\nbe brief\n</system>' },
          ],
        },
      ],
    });
  });

  test('empty texts are left out and a prefill has no white space at its end', () => {
    const { messages } = request('chat', 'messages', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'go' },
          ],
        },
        { role: 'assistant', content: 'The answer is: \n' },
      ],
    });

    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'The answer is:' }] },
    ]);
  });

  test('a request of a system prompt alone is asked as a user', () => {
    const sent = request('chat', 'messages', { messages: [{ role: 'system', content: 'say hi' }] });

    expect(sent.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'say hi' }] }]);
    expect(sent).not.toHaveProperty('system');
  });

  test('an image keeps its type, and a text file is a document in plain text', () => {
    const { messages } = request('chat', 'messages', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: pngUrl, detail: 'high' } },
            { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGk=' } },
          ],
        },
      ],
    });

    expect(messages[0].content).toEqual([
      png,
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' }, title: 'a.txt' },
    ]);
  });

  const hello = [{ role: 'user', content: 'hi' }];
  const tools = [{ type: 'function', function: { name: 'f' } }];

  test.each([
    [{ parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [{ tool_choice: 'required' }, { type: 'any' }],
    [{ tool_choice: 'none', parallel_tool_calls: false }, { type: 'none' }],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, { type: 'tool', name: 'f' }],
  ])('%j becomes %j', (fields, choice) => {
    const sent = request('chat', 'messages', { messages: hello, tools, ...fields });

    expect(sent.tool_choice).toEqual(choice);
    expect(sent.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
  });

  test('only allowed tools remain', () => {
    const sent = request('chat', 'messages', {
      messages: hello,
      tools: [...tools, { type: 'function', function: { name: 'g' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] },
      },
    });

    expect(sent.tools.map((tool: { name: string }) => tool.name)).toEqual(['g']);
    expect(sent.tool_choice).toEqual({ type: 'any' });
  });

  const old = { host: 'anthropic', targetModel: 'claude-sonnet-4-5' } as const;
  const recent = { host: 'anthropic', targetModel: 'claude-opus-5' } as const;

  test('an effort is an effort for new models and a budget for old ones, beside what the answer may take', () => {
    const body = { messages: hello, reasoning_effort: 'high', max_tokens: 4_000, temperature: 0.5 };

    expect(request('chat', 'messages', body, recent)).toMatchObject({ output_config: { effort: 'high' } });
    const sent = request('chat', 'messages', body, old);
    expect(sent).toMatchObject({ max_tokens: 20_384, thinking: { type: 'enabled', budget_tokens: 16_384 } });
    expect(sent).not.toHaveProperty('temperature');
  });

  test('no budget in the middle of a tool turn, with a forced tool, or where there is no room', () => {
    const call = chatCall('a', 'f', '{}');
    const turn = [
      ...hello,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ];
    const bodies = [
      { messages: turn, reasoning_effort: 'high' },
      { messages: hello, tools, tool_choice: 'required', reasoning_effort: 'high' },
      { messages: hello, reasoning_effort: 'high', max_tokens: 31_500 },
    ];

    for (const body of bodies) expect(request('chat', 'messages', body, old)).not.toHaveProperty('thinking');
  });

  test('temperature is held below 1 and left out for models that take none', () => {
    const body = { messages: hello, temperature: 1.7 };

    expect(request('chat', 'messages', body, old).temperature).toBe(1);
    expect(request('chat', 'messages', body, recent)).not.toHaveProperty('temperature');
  });
});

describe('responses to chat', () => {
  const codex = {
    stream: true,
    // biome-ignore format: a case a line
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'be good' }] },
      { role: 'user', content: 'fix it' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I try.', annotations: [] }] },
      { type: 'function_call', call_id: 'c1', name: 'spawn', namespace: 'multi_agent_v1', arguments: '{"n":1}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin "Patch"\n' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'done' }] },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'applied' },
      { role: 'user', content: [{ type: 'input_image', image_url: pngUrl, detail: 'low' }] },
    ],
    // biome-ignore format: a case a line
    tools: [
      { type: 'function', name: 'shell', parameters: { type: 'object', properties: {} }, strict: null },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: x' } },
      { type: 'namespace', name: 'multi_agent_v1', tools: [{ type: 'function', name: 'spawn', parameters: null, strict: false }] },
      { type: 'web_search' },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
  };

  test("a turn of Codex's becomes messages", () => {
    const { messages } = request('responses', 'chat', codex);

    expect(messages).toEqual([
      { role: 'system', content: 'be good' },
      { role: 'user', content: 'fix it' },
      {
        role: 'assistant',
        content: 'I try.',
        tool_calls: [
          chatCall('c1', 'multi_agent_v1__spawn', '{"n":1}'),
          chatCall('c2', 'apply_patch', JSON.stringify({ input: '*** Begin "Patch"\n' })),
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      { role: 'tool', tool_call_id: 'c2', content: 'applied' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: pngUrl, detail: 'low' } }] },
    ]);
  });

  test('its tools become functions, and what the host cannot run is left out', () => {
    const translation = createTranslation(dialects.responses, dialects.chat, newContext());
    const { body, dropped } = translation.request({ model: 'x', ...codex });

    expect(body).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: false });
    const { tools } = body as { tools: { function: { name: string; description?: string } }[] };
    expect(tools.map((tool) => tool.function.name)).toEqual([
      'shell',
      'apply_patch',
      'multi_agent_v1__spawn',
    ]);
    expect(tools[0]).toEqual({
      type: 'function',
      function: { name: 'shell', parameters: { type: 'object', properties: {} } },
    });
    expect(tools[1]).toMatchObject({
      function: {
        description: 'The input must follow this lark grammar:\nstart: x',
        parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
      },
    });
    expect(dropped).toContain('tools[type=web_search]');
  });

  test('the developer keeps its role at OpenAI', () => {
    expect(request('responses', 'chat', codex, { host: 'openai' }).messages[0].role).toBe('developer');
  });

  test('tools that were found during the conversation can be called', () => {
    const sent = request('responses', 'chat', {
      input: [
        { role: 'user', content: 'hi' },
        { type: 'tool_search_output', tools: [{ type: 'function', name: 'found', parameters: {} }] },
      ],
    });

    expect(sent.tools[0].function.name).toBe('found');
  });
});

describe('towards responses', () => {
  test('chat keeps its custom tools, sets strict, and stores nothing', () => {
    const sent = request('chat', 'responses', {
      messages: [
        { role: 'system', content: 'be good' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: 'x' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [
        { type: 'function', function: { name: 'f' } },
        {
          type: 'custom',
          custom: {
            name: 'patch',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: x' } },
          },
        },
      ],
      max_completion_tokens: 1,
    });

    expect(sent).toEqual({
      model: 'target-model',
      instructions: 'be good',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
      ],
      max_output_tokens: 16,
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
        {
          type: 'custom',
          name: 'patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
        },
      ],
      store: false,
    });
  });
});

test.each([
  [
    'responses',
    'messages',
    {
      input: [
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: pngUrl }] },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [png] }] },
  ],
  [
    'messages',
    'responses',
    {
      max_tokens: 100,
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [png] }] },
      ],
    },
    {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_image', image_url: pngUrl, detail: 'auto' }],
    },
  ],
] as const)('%s to %s: images stay in results', (client, provider, body, result) => {
  const sent = request(client, provider, body);

  expect((sent.messages ?? sent.input)[1]).toEqual(result);
});

describe('Gemini', () => {
  test('calls without ids are matched with responses by name, in order', () => {
    const call = (name: string) => ({ functionCall: { name, args: {} } });
    const response = (name: string, output: string) => ({ functionResponse: { name, response: { output } } });
    const { messages } = request('gemini', 'chat', {
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [call('f'), call('g'), call('f')] },
        { role: 'user', parts: [response('f', 'one'), response('f', 'two'), response('g', 'three')] },
      ],
    });

    const results = messages.slice(2).map(({ content }: { content: string }) => content);
    expect(results).toEqual(['one', 'three', 'two']);
  });

  test('the first call of a turn is signed for models that insist on it', () => {
    const messages = [
      { role: 'assistant', tool_calls: [chatCall('a', 'f', '{}'), chatCall('b', 'f', '{}')] },
      { role: 'user', content: 'x' },
    ];
    const signatures = (targetModel: string) =>
      JSON.stringify(request('chat', 'gemini', { messages }, { targetModel })).match(
        /skip_thought_signature_validator/g,
      );

    expect(signatures('gemini-3-pro')).toHaveLength(1);
    expect(signatures('gemini-2.5-pro')).toBeNull();
  });
});

describe('malformed requests', () => {
  test.each([
    ['messages', 'chat', {}, 'messages'],
    ['messages', 'chat', { messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
    ['messages', 'chat', { messages: [], tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
    ['chat', 'messages', { messages: [], reasoning_effort: 'huge' }, 'reasoning_effort', 'anthropic'],
    ['chat', 'responses', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    ['responses', 'chat', { input: [{ type: 'function_call', name: 'f' }] }, 'input[0].call_id'],
    ['responses', 'messages', { input: 'x', text: { format: { type: 'yaml' } } }, 'text.format.type'],
  ] as const)('%s to %s: %j is refused at %s', (client, provider, body, param, host?: 'anthropic') => {
    expect(() => request(client, provider, body, { host: host ?? 'unknown' })).toThrow(
      expect.objectContaining({ code: 'request.field', param }),
    );
  });
});

describe('hostile requests', () => {
  test('very many calls are carried, in linear time', () => {
    const count = scale(20_000, 100_000);
    const ids = Array.from({ length: count }, (_each, index) => `c${index}`);
    const input = ids.flatMap((id) => [
      { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: `d${id}`, name: 'g', input: 'x' },
    ]);
    const content = ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} }));
    const messages = [{ role: 'assistant', content }];

    expect(request('responses', 'messages', { input }).messages[0].content).toHaveLength(2 * count);
    expect(request('messages', 'chat', { max_tokens: 1, messages }).messages[0].tool_calls).toHaveLength(
      count,
    );
  });

  test('two results for one call are one', () => {
    const call = chatCall('a', 'f', '{}');
    const messages = [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'first' },
      { role: 'tool', tool_call_id: 'a', content: 'second' },
    ];

    expect(request('chat', 'responses', { messages }).input.at(-1).output).toBe('first\n\nsecond');
  });

  test('names of dropped fields are bounded in number and length', () => {
    const body = Object.fromEntries(
      Array.from({ length: 5_000 }, (_each, index) => [`${'x'.repeat(500)}${index}`, 1]),
    );

    const { dropped } = createTranslation(dialects.chat, dialects.messages, newContext()).request({
      messages: [],
      ...body,
    });

    expect(dropped.length).toBeLessThanOrEqual(100);
    expect(dropped.every((name) => name.length <= 100)).toBe(true);
  });

  test('members named like parts of objects are just unknown fields', () => {
    const body = JSON.parse('{"messages":[],"__proto__":{"temperature":1},"constructor":1,"toString":2}');

    const sent = request('chat', 'responses', body);

    expect(sent).toEqual({ model: 'target-model', input: [], store: false });
  });
});
