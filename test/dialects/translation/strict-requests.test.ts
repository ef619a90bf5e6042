import { describe, expect, test } from 'vitest';
import { checkRequest } from '../../kit/strict/check-request.ts';
import { nothingIssued, refusalOf, type Vendor, vendors } from '../../kit/strict/vendors.ts';

// The oracle for translated requests: it refuses what the real hosts refuse, and names the place. Here is what the parts
// of a request owe each other; what each may be by itself, its schema says.

type Case = readonly [name: string, change: Record<string, unknown>, place: string];

/** That a usual request passes, and is refused with each of the changes, at its place. */
function refusesOnly(path: string, usual: object, cases: readonly Case[]): void {
  const placeOf = (body: object) => checkRequest(path, body)?.place;

  test('refuses nothing of a usual request', () => {
    expect(placeOf(usual)).toBeUndefined();
  });

  test.each(cases)('refuses %s', (_name, change, place) => {
    expect(placeOf({ ...usual, ...change })).toBe(place);
  });
}

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
  const cases: readonly Case[] = [
    ['a first message of the assistant', { messages: [assistant('hi')] }, 'messages'],
    ['a result without its call', { messages: [user([result])] }, 'messages[0].content[0]'],
    ['a call without its result', { messages: [user('x'), assistant([use]), user('y')] }, 'messages[1].content[0]'],
    ['text before a result', { messages: [user('x'), assistant([use]), user([text, result])] }, 'messages[2].content[1]'],
    ['two results of a call', { messages: [user('x'), assistant([use]), user([result, result])] }, 'messages[2].content[1]'],
    ['two tools of one name', { tools: [...tools, ...tools] }, 'tools[1].name'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
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
  ];

  refusesOnly('/v1/messages', hello, cases);
});

describe('chat', () => {
  const hello = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
  const user = (content: unknown) => ({ role: 'user', content });
  const call = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } };
  const assistant = { role: 'assistant', content: null, tool_calls: [call] };
  const tool = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };
  const withParameters = (parameters: unknown) => [{ type: 'function', function: { name: 'a', parameters } }];
  // biome-ignore format: a case a line
  const cases: readonly Case[] = [
    ['a result without its call', { messages: [user('x'), tool] }, 'messages[1]'],
    ['a call without its result', { messages: [user('x'), assistant, user('y')] }, 'messages[1].tool_calls'],
    ['text between results', { messages: [user('x'), assistant, user('y'), tool] }, 'messages[1].tool_calls'],
    ['parameters without properties', { tools: withParameters({ type: 'object' }) }, 'tools[0].function.parameters'],
    ['a choice without tools', { tool_choice: 'auto' }, 'tool_choice'],
    ['both caps', { max_tokens: 5, max_completion_tokens: 5 }, 'max_tokens'],
    ['usage of no stream', { stream_options: { include_usage: true } }, 'stream_options'],
  ];

  refusesOnly('/v1/chat/completions', hello, cases);
});

describe('responses', () => {
  const hello = { model: 'm', input: 'hello' };
  const call = { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'rain' };
  // biome-ignore format: a case a line
  const cases: readonly Case[] = [
    ['input_text of the assistant', { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] }, 'input[0].content[0].type'],
    ['an output without its call', { input: [output] }, 'input[0].call_id'],
    ['a call without its output', { input: [call] }, 'input[0]'],
    ['a forced choice without tools', { tool_choice: 'required' }, 'tool_choice'],
  ];

  refusesOnly('/v1/responses', hello, cases);
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
  const cases: readonly Case[] = [
    ['a response without its call', { contents: [user(result)] }, 'contents[0].parts'],
    ['a call without its response', { contents: [x, model(call), y] }, 'contents[2].parts'],
    ['a response to one of two calls', { contents: [x, model(call, call), user(result)] }, 'contents[2].parts'],
    ['a call of a user', { contents: [user(call), user(result)] }, 'contents[0].role'],
    ['names without the mode', choice({ mode: 'AUTO', allowedFunctionNames: ['get_weather'] }), 'toolConfig.functionCallingConfig.allowedFunctionNames'],
    ['a schema without its type', config({ responseJsonSchema: weatherSchema }), 'generationConfig'],
    ['a budget and a level', config({ thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'low' } }), 'generationConfig.thinkingConfig'],
  ];

  refusesOnly('/v1beta/models/m:generateContent', hello, cases);
});

describe('vendors refuse in their own words', () => {
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } }];
  const user = { role: 'user', content: 'x' };
  const tool = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };
  const assistant = { role: 'assistant', content: null, tool_calls: calls };
  const looped = { model: 'm', messages: [user, assistant, tool] };
  const part = { functionCall: { id: 'call_1', name: 'a', args: {} } };
  const parts = {
    contents: [
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [part] },
    ],
  };
  const thought = { type: 'thinking', thinking: 'x', signature: 'forged' };
  const late = { model: 'm', messages: [user, { role: 'system', content: 'x' }] };
  // biome-ignore format: a case a line
  test.each([
    ['deepseek', 0, looped, 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
    ['moonshot', 0, looped, 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1'],
    ['mistral', 0, looped, 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.'],
    ['mistral', 0, { messages: [user, { role: 'tool', tool_call_id: 'a12345678', content: 'x' }, user] }, "Unexpected role 'user' after role 'tool'"],
    ['mistral', 0, { messages: [user, { role: 'assistant', content: 'x', reasoning_content: 'x' }, user] }, 'Extra inputs are not permitted: reasoning_content'],
    ['openai', 0, { messages: [user], max_tokens: 1 }, 'max_completion_tokens'],
    ['openai', 2, { input: [{ type: 'reasoning', encrypted_content: 'forged' }] }, 'could not be verified'],
    ['gemini', 0, looped, 'Function call is missing a thought_signature'],
    ['gemini', 1, parts, 'Function call is missing a thought_signature'],
    ['gemini', 1, { contents: [{ role: 'model', parts: [{ ...part, thoughtSignature: 'forged' }] }] }, 'Corrupted thought signature'],
    ['vertex', 3, { contents: [{ role: 'model', parts: [{ ...part, thoughtSignature: 'skip_thought_signature_validator' }] }] }, 'Unknown name "id"'],
    ['anthropic', 0, { messages: [user, { role: 'assistant', content: [thought] }] }, 'Invalid `signature` in `thinking` block'],
    ['llamacpp', 0, late, 'System message must be at the beginning'],
    ['vllm', 0, { messages: [{ role: 'developer', content: 'x' }] }, 'developer is not one of'],
    ['vllm', 0, { messages: [{ ...assistant, tool_calls: [{ ...calls[0], function: { name: 'a', arguments: '{"a' } }] }] }, 'Unterminated string'],
    ['openai', 0, { messages: [{ ...tool, tool_call_id: 'x'.repeat(65) }] }, 'with length 65 instead'],
    ['openai', 2, { input: [{ type: 'function_call', call_id: 'x'.repeat(65) }] }, 'with length 65 instead'],
    ['openai', 0, { tools: [{ function: { parameters: { properties: { a: { type: 'array' } } } } }] }, 'array schema missing items'],
    ['openai', 2, { tools: [{ parameters: { properties: { a: { type: ['array', 'null'] } } } }] }, 'array schema missing items'],
    ['openai', 0, { messages: [user], response_format: { type: 'json_object' } }, "must contain the word 'json'"],
    ['openai', 1, { messages: [user], max_completion_tokens: 1, stop: ['x'] }, "'stop' is not supported"],
    ['xai', 1, { messages: [user], stop: ['x'] }, 'does not support parameter stop'],
    ['ollama', 0, looped, 'invalid message content type: <nil>'],
    ['deepseek', 0, { messages: [{ role: 'user', content: 'JSON' }], response_format: { type: 'json_schema' } }, 'This response_format type is unavailable now'],
    ['zai', 0, { messages: [user], response_format: { type: 'json_schema' } }, 'Invalid API parameter'],
    ['lmstudio', 0, { messages: [user], response_format: { type: 'json_object' } }, "must be 'json_schema'"],
    ['minimax', 0, { messages: [user], response_format: { type: 'json_object' } }, 'invalid params'],
    ['groq', 1, { messages: [user], tools: [], response_format: { type: 'json_object' } }, 'cannot be combined'],
    ['gemini', 2, { contents: [], tools: [], generationConfig: { responseMimeType: 'application/json' } }, 'Function calling with a response mime type'],
    ['vertex', 0, { messages: [user], output_config: { format: { type: 'json_schema' } }, cache_control: {} }, 'Extra inputs are not permitted'],
    ['anthropic', 0, { messages: [user, { role: 'assistant', content: 'x' }], cache_control: {} }, 'does not support assistant message prefill'],
    ['llamacpp', 0, { messages: [user, { role: 'assistant', content: 'x' }] }, 'incompatible with enable_thinking'],
  ] as const)('%s (%i)', (host, at, body, words) => {
    const vendor = vendors[host][at] as Vendor;

    expect(refusalOf(vendor, body, nothingIssued())).toContain(words);
  });
});
