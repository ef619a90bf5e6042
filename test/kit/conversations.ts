import type { MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import type { TextDialectName } from '../../src/dialects/registry.ts';

// The same options as each dialect's own SDK writes them.

export type Option = 'text' | 'tools' | 'tool result' | 'image' | 'thinking' | 'structured';

/** A PNG of one pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const weatherSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};

const system = 'You answer briefly.';
const question = 'How is the weather in Köln?';
const result = 'sunny, 21 °C';
const description = 'Looks the weather up.';

/** What must be found in the provider's request, whatever its dialect. */
export const marks: Readonly<Record<Option, readonly string[]>> = {
  text: [system, question],
  tools: [system, question, 'get_weather', description, 'additionalProperties'],
  'tool result': [question, 'get_weather', 'call_1', 'Köln', result],
  image: [question, pixel],
  thinking: [question],
  structured: [question, 'additionalProperties'],
};

/** What an option has beside, or in place of, the members of a request with a text alone. */
type More<Request> = Readonly<Record<Option, Partial<Request>>>;

const call = { city: 'Köln', days: 1 };
const json = JSON.stringify(call);

export function messagesRequest(model: string, option: Option): MessageCreateParamsNonStreaming {
  const user = { role: 'user' as const, content: question };
  const tools = [{ name: 'get_weather', description, input_schema: weatherSchema }];
  const said = (content: MessageParam['content']) => ({ messages: [{ role: 'user' as const, content }] });
  const more: More<MessageCreateParamsNonStreaming> = {
    text: {},
    tools: { tools },
    'tool result': {
      tools,
      messages: [
        user,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'get_weather', input: call }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: result }] },
      ],
    },
    image: said([
      { type: 'text', text: question },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
    ]),
    thinking: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    structured: { output_config: { format: { type: 'json_schema', schema: weatherSchema } } },
  };
  return { model, max_tokens: 2_000, system, messages: [user], ...more[option] };
}

export function chatRequest(model: string, option: Option): ChatCompletionCreateParamsNonStreaming {
  const turns: ChatCompletionMessageParam[] = [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ];
  const tools: ChatCompletionCreateParamsNonStreaming['tools'] = [
    { type: 'function', function: { name: 'get_weather', description, parameters: weatherSchema } },
  ];
  const called = { name: 'get_weather', arguments: json };
  const picture = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${pixel}` } };
  const more: More<ChatCompletionCreateParamsNonStreaming> = {
    text: {},
    tools: { tools },
    'tool result': {
      tools,
      messages: [
        ...turns,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: called }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: result },
      ],
    },
    image: { messages: [{ role: 'user', content: [{ type: 'text', text: question }, picture] }] },
    thinking: { reasoning_effort: 'high' },
    structured: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', schema: weatherSchema, strict: true },
      },
    },
  };
  return { model, max_completion_tokens: 2_000, messages: turns, ...more[option] };
}

export function responsesRequest(model: string, option: Option): ResponseCreateParamsNonStreaming {
  const tools: ResponseCreateParamsNonStreaming['tools'] = [
    { type: 'function', name: 'get_weather', description, parameters: weatherSchema, strict: null },
  ];
  const picture = {
    type: 'input_image' as const,
    image_url: `data:image/png;base64,${pixel}`,
    detail: 'auto' as const,
  };
  const more: More<ResponseCreateParamsNonStreaming> = {
    text: {},
    tools: { tools },
    'tool result': {
      tools,
      input: [
        { role: 'user', content: question },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: json },
        { type: 'function_call_output', call_id: 'call_1', output: result },
      ],
    },
    image: { input: [{ role: 'user', content: [{ type: 'input_text', text: question }, picture] }] },
    thinking: { reasoning: { effort: 'high' } },
    structured: {
      text: { format: { type: 'json_schema', name: 'weather', schema: weatherSchema, strict: true } },
    },
  };
  return { model, max_output_tokens: 2_000, instructions: system, input: question, ...more[option] };
}

/** As Google's SDK writes it; the model is in the path. */
export function geminiRequest(_model: string, option: Option): object {
  const user = { role: 'user', parts: [{ text: question }] };
  const tools = [
    { functionDeclarations: [{ name: 'get_weather', description, parametersJsonSchema: weatherSchema }] },
  ];
  const called = { id: 'call_1', name: 'get_weather' };
  const withConfig = (config: object) => ({ generationConfig: { maxOutputTokens: 2_000, ...config } });
  const more: More<object> = {
    text: {},
    tools: { tools },
    'tool result': {
      tools,
      contents: [
        user,
        { role: 'model', parts: [{ functionCall: { ...called, args: call } }] },
        { role: 'user', parts: [{ functionResponse: { ...called, response: { output: result } } }] },
      ],
    },
    image: {
      contents: [
        { role: 'user', parts: [{ text: question }, { inlineData: { mimeType: 'image/png', data: pixel } }] },
      ],
    },
    thinking: withConfig({ thinkingConfig: { thinkingBudget: 1_024, includeThoughts: true } }),
    structured: withConfig({ responseMimeType: 'application/json', responseJsonSchema: weatherSchema }),
  };
  const start = { contents: [user], systemInstruction: { parts: [{ text: system }] } };
  return { ...start, ...withConfig({}), ...more[option] };
}

export const requestOf = {
  messages: messagesRequest,
  chat: chatRequest,
  responses: responsesRequest,
  gemini: geminiRequest,
} satisfies Record<TextDialectName, (model: string, option: Option) => object>;
