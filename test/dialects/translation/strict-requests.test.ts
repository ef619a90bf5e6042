import { describe, expect, test } from 'vitest';
import { checkRequest } from '../../kit/strict/check-request.ts';

// The oracle for translated requests: it refuses what the real hosts refuse, and names the place.

const placeOf = (path: string, body: object) => checkRequest(path, body)?.place;
const weatherSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('messages', () => {
  const hello = { model: 'm', max_tokens: 1024, messages: [{ role: 'user', content: 'hello' }] };
  const tools = [{ name: 'get_weather', input_schema: weatherSchema }];
  const user = (content: unknown) => ({ role: 'user', content });
  const assistant = (content: unknown) => ({ role: 'assistant', content });
  const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' };
  const text = { type: 'text', text: 'hi' };
  // biome-ignore format: a case a line
  const cases: [string, Record<string, unknown>, string][] = [
    ['max_tokens below 0', { max_tokens: -1 }, 'max_tokens'],
    ['max_tokens as text', { max_tokens: '5' }, 'max_tokens'],
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty list of messages', { messages: [] }, 'messages'],
    ['a first message of the assistant', { messages: [assistant('hi')] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['empty content', { messages: [user('')] }, 'messages[0].content'],
    ['an empty text block', { messages: [user([{ type: 'text', text: '' }])] }, 'messages[0].content[0].text'],
    ['a part of the Chat dialect', { messages: [user([{ type: 'image_url' }])] }, 'messages[0].content[0].type'],
    ['a result without its call', { messages: [user([result])] }, 'messages[0].content[0]'],
    ['a call without its result', { messages: [user('x'), assistant([use]), user('y')] }, 'messages[1].content[0]'],
    ['a last call', { messages: [user('x'), assistant([use])] }, 'messages[1].content[0]'],
    ['text before a result', { messages: [user('x'), assistant([use]), user([text, result])] }, 'messages[2].content[1]'],
    ['two results of a call', { messages: [user('x'), assistant([use]), user([result, result])] }, 'messages[2].content[1]'],
    [
      'an id with other characters',
      {
        messages: [user('x'), assistant([{ ...use, id: 'a.b' }]), user([{ ...result, tool_use_id: 'a.b' }])],
      },
      'messages[1].content[0].id',
    ],
    ['input that is text', { messages: [user('x'), assistant([{ ...use, input: '{}' }])] }, 'messages[1].content[0].input'],
    [
      'thinking without a signature',
      {
        messages: [
          user('x'),
          assistant([{ type: 'thinking', thinking: 'a', signature: '' }, text]),
          user('y'),
        ],
      },
      'messages[1].content[0].signature',
    ],
    ['white space at the end', { messages: [user('x'), assistant('so ')] }, 'messages[1].content'],
    ['an empty system block', { system: [{ type: 'text', text: '' }] }, 'system[0].text'],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools[0].input_schema'],
    ['a tool in the form of Chat', { tools: [{ type: 'function', function: {} }], tool_choice: { type: 'tool', name: 'a' } }, 'tool_choice.name'],
    ['two tools of one name', { tools: [...tools, ...tools] }, 'tools[1].name'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
    ['a choice of an unknown tool', { tools, tool_choice: { type: 'tool', name: 'b' } }, 'tool_choice.name'],
    ['temperature above 1', { temperature: 1.5 }, 'temperature'],
    ['a blank stop sequence', { stop_sequences: [' '] }, 'stop_sequences[0]'],
    ['a thinking budget above the cap', { thinking: { type: 'enabled', budget_tokens: 2000 } }, 'thinking.budget_tokens'],
    ['a forced call while thinking', { thinking: { type: 'adaptive' }, tools, tool_choice: { type: 'any' } }, 'tool_choice'],
    [
      'a call without its thinking',
      {
        max_tokens: 4096,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [user('x'), assistant([use]), user([result])],
      },
      'messages[1].content',
    ],
    ['a field of the Chat dialect', { response_format: { type: 'json_object' } }, 'response_format'],
  ];

  test('refuses nothing of a usual request', () => {
    expect(placeOf('/v1/messages', { ...hello, tools })).toBeUndefined();
  });

  test.each(cases)('refuses %s', (_name, change, place) => {
    expect(placeOf('/v1/messages', { ...hello, ...change })).toBe(place);
  });
});

describe('chat', () => {
  const hello = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: weatherSchema } }];
  const user = (content: unknown) => ({ role: 'user', content });
  const call = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } };
  const assistant = { role: 'assistant', content: null, tool_calls: [call] };
  const tool = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };
  const withParameters = (parameters: unknown) => [{ type: 'function', function: { name: 'a', parameters } }];
  // biome-ignore format: a case a line
  const cases: [string, Record<string, unknown>, string][] = [
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty list of messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'human', content: 'x' }] }, 'messages[0].role'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['an empty list of parts', { messages: [user([])] }, 'messages[0].content'],
    ['a block of the Messages dialect', { messages: [user([{ type: 'image', source: {} }])] }, 'messages[0].content[0].type'],
    ['a picture as a bare string', { messages: [user([{ type: 'image_url', image_url: 'x' }])] }, 'messages[0].content[0].image_url'],
    ['an assistant without words', { messages: [{ role: 'assistant', content: null }] }, 'messages[0].content'],
    ['no calls in tool_calls', { messages: [user('x'), { ...assistant, tool_calls: [] }] }, 'messages[1].tool_calls'],
    [
      'arguments that are no text',
      { messages: [{ ...assistant, tool_calls: [{ ...call, function: { name: 'a', arguments: {} } }] }] },
      'messages[0].tool_calls[0].function.arguments',
    ],
    ['a result without its call', { messages: [user('x'), tool] }, 'messages[1]'],
    ['a result of another call', { messages: [user('x'), assistant, { ...tool, tool_call_id: 'b' }] }, 'messages[2]'],
    ['a call without its result', { messages: [user('x'), assistant, user('y')] }, 'messages[1].tool_calls'],
    ['a last call', { messages: [user('x'), assistant] }, 'messages[1].tool_calls'],
    ['text between results', { messages: [user('x'), assistant, user('y'), tool] }, 'messages[1].tool_calls'],
    ['no tools in tools', { tools: [] }, 'tools'],
    ['a tool of the Messages dialect', { tools: [{ name: 'a', input_schema: {} }] }, 'tools[0].type'],
    ['a tool name with other characters', { tools: [{ type: 'function', function: { name: 'a.b' } }] }, 'tools[0].function.name'],
    ['parameters without properties', { tools: withParameters({ type: 'object' }) }, 'tools[0].function.parameters'],
    ['parameters of no object', { tools: withParameters({ type: 'string' }) }, 'tools[0].function.parameters'],
    ['a choice without tools', { tool_choice: 'auto' }, 'tool_choice'],
    ['a choice of the Messages dialect', { tools, tool_choice: { type: 'any' } }, 'tool_choice.type'],
    ['a choice of an unknown tool', { tools, tool_choice: { type: 'function', function: { name: 'b' } } }, 'tool_choice.function.name'],
    ['parallel calls without tools', { parallel_tool_calls: false }, 'parallel_tool_calls'],
    ['both caps', { max_tokens: 5, max_completion_tokens: 5 }, 'max_tokens'],
    ['a cap of 0', { max_tokens: 0 }, 'max_tokens'],
    ['no choices', { n: 0 }, 'n'],
    ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['temperature above 2', { temperature: 2.1 }, 'temperature'],
    ['usage of no stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['a schema without a name', { response_format: { type: 'json_schema', json_schema: { schema: {} } } }, 'response_format.json_schema.name'],
    ['log probabilities', { logprobs: true }, 'logprobs'],
    ['a field of the Messages dialect', { stop_sequences: ['a'] }, 'stop_sequences'],
  ];

  test('refuses nothing of a usual request', () => {
    expect(placeOf('/v1/chat/completions', { ...hello, tools })).toBeUndefined();
  });

  test.each(cases)('refuses %s', (_name, change, place) => {
    expect(placeOf('/v1/chat/completions', { ...hello, ...change })).toBe(place);
  });
});

describe('responses', () => {
  const hello = { model: 'm', input: 'hello' };
  const tools = [{ type: 'function', name: 'get_weather', parameters: weatherSchema, strict: true }];
  const call = { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'rain' };
  // biome-ignore format: a case a line
  const cases: [string, Record<string, unknown>, string][] = [
    ['no input', { input: undefined }, 'input'],
    ['input of another type', { input: 5 }, 'input'],
    ['an unknown role', { input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    ['an unknown item', { input: [{ type: 'tool_use' }] }, 'input[0].type'],
    ['a part of the Chat dialect', { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }, 'input[0].content[0].type'],
    ['input_text of the assistant', { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] }, 'input[0].content[0].type'],
    ['an output without its call', { input: [output] }, 'input[0].call_id'],
    ['a call without its output', { input: [call] }, 'input[0]'],
    ['a call with a wrong id', { input: [{ ...call, id: 'call_1' }, output] }, 'input[0].id'],
    ['a nested tool', { tools: [{ type: 'function', function: { name: 'a' } }] }, 'tools[0].name'],
    ['a nested choice', { tools, tool_choice: { type: 'function', function: { name: 'a' } } }, 'tool_choice.name'],
    ['a choice of an unknown tool', { tools, tool_choice: { type: 'function', name: 'b' } }, 'tool_choice.name'],
    ['a forced choice without tools', { tool_choice: 'required' }, 'tool_choice'],
    ['an earlier response', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['work in the background', { background: true }, 'background'],
    ['a cap of 0', { max_output_tokens: 0 }, 'max_output_tokens'],
    ['messages', { messages: [] }, 'messages'],
    ['the cap of another dialect', { max_tokens: 5 }, 'max_tokens'],
  ];

  test('refuses nothing of a usual request', () => {
    expect(placeOf('/v1/responses', { ...hello, tools })).toBeUndefined();
  });

  test.each(cases)('refuses %s', (_name, change, place) => {
    expect(placeOf('/v1/responses', { ...hello, ...change })).toBe(place);
  });
});

describe('gemini', () => {
  const user = (...parts: object[]) => ({ role: 'user', parts });
  const model = (...parts: object[]) => ({ role: 'model', parts });
  const hello = { contents: [user({ text: 'hello' })] };
  const call = { functionCall: { name: 'get_weather', args: {} } };
  const result = { functionResponse: { name: 'get_weather', response: { output: 'rain' } } };
  const declared = { name: 'get_weather', parametersJsonSchema: weatherSchema };
  const tools = [{ functionDeclarations: [declared] }];
  const config = (generationConfig: object) => ({ generationConfig });
  const choice = (functionCallingConfig: object) => ({ tools, toolConfig: { functionCallingConfig } });
  const [x, y] = [user({ text: 'x' }), user({ text: 'y' })];
  // biome-ignore format: a case a line
  const cases: [string, Record<string, unknown>, string][] = [
    ['no contents', { contents: undefined }, 'contents'],
    ['an empty list of contents', { contents: [] }, 'contents'],
    ['a role of another dialect', { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, 'contents[0].role'],
    ['a turn without parts', { contents: [user()] }, 'contents[0].parts'],
    ['a part of the Messages dialect', { contents: [user({ type: 'text', text: 'x' })] }, 'contents[0].parts[0]'],
    ['bytes without a type', { contents: [user({ inlineData: { data: 'aGk=' } })] }, 'contents[0].parts[0].inlineData.mimeType'],
    ['a file without its address', { contents: [user({ fileData: { mimeType: 'image/png' } })] }, 'contents[0].parts[0].fileData.fileUri'],
    ['arguments as text', { contents: [x, model({ functionCall: { name: 'f', args: '{}' } }), y] }, 'contents[1].parts[0].functionCall.args'],
    ['a response as text', { contents: [x, model(call), user({ functionResponse: { name: 'get_weather', response: 'rain' } })] }, 'contents[2].parts[0].functionResponse.response'],
    ['a response without its call', { contents: [user(result)] }, 'contents[0].parts'],
    ['a call without its response', { contents: [x, model(call), y] }, 'contents[2].parts'],
    ['a response to one of two calls', { contents: [x, model(call, call), user(result)] }, 'contents[2].parts'],
    ['a last call', { contents: [x, model(call)] }, 'contents[1]'],
    ['a call of a user', { contents: [user(call), user(result)] }, 'contents[0].role'],
    ['a system turn without text', { systemInstruction: { parts: [{ text: '' }] } }, 'systemInstruction.parts[0].text'],
    ['a name with a blank', { tools: [{ functionDeclarations: [{ name: 'get weather' }] }] }, 'tools[0].functionDeclarations[0].name'],
    ['two schemas', { tools: [{ functionDeclarations: [{ ...declared, parameters: {} }] }] }, 'tools[0].functionDeclarations[0]'],
    ['a choice of an unknown function', choice({ mode: 'ANY', allowedFunctionNames: ['b'] }), 'toolConfig.functionCallingConfig.allowedFunctionNames[0]'],
    ['names without the mode', choice({ mode: 'AUTO', allowedFunctionNames: ['get_weather'] }), 'toolConfig.functionCallingConfig.allowedFunctionNames'],
    ['temperature above 2', config({ temperature: 2.5 }), 'generationConfig.temperature'],
    ['six stop sequences', config({ stopSequences: [...'abcdef'] }), 'generationConfig.stopSequences'],
    ['a schema without its type', config({ responseJsonSchema: weatherSchema }), 'generationConfig'],
    ['a budget and a level', config({ thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'low' } }), 'generationConfig.thinkingConfig'],
    ['a field of the Chat dialect', { max_tokens: 5 }, ''],
  ];
  const path = '/v1beta/models/m:generateContent';

  test('refuses nothing of a usual request', () => {
    expect(placeOf(path, { contents: [x, model(call), user(result)], tools })).toBeUndefined();
  });

  test.each(cases)('refuses %s', (_name, change, place) => {
    expect(placeOf(path, { ...hello, ...change })).toBe(place);
  });
});
