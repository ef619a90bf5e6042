import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
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

const messagesTools = [{ name: 'get_weather', description, input_schema: weatherSchema }];

export function messagesRequest(model: string, option: Option): MessageCreateParamsNonStreaming {
  const user = { role: 'user' as const, content: question };
  const base = { model, max_tokens: 2_000, system, messages: [user] };
  switch (option) {
    case 'text':
      return base;
    case 'tools':
      return { ...base, tools: messagesTools };
    case 'tool result':
      return {
        ...base,
        tools: messagesTools,
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Köln', days: 1 } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: result }] },
        ],
      };
    case 'image': {
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: pixel };
      const content = [
        { type: 'text' as const, text: question },
        { type: 'image' as const, source },
      ];
      return { ...base, messages: [{ role: 'user', content }] };
    }
    case 'thinking':
      return { ...base, thinking: { type: 'enabled', budget_tokens: 1_024 } };
    case 'structured':
      return { ...base, output_config: { format: { type: 'json_schema', schema: weatherSchema } } };
  }
}

const chatTools = [
  { type: 'function' as const, function: { name: 'get_weather', description, parameters: weatherSchema } },
];

export function chatRequest(model: string, option: Option): ChatCompletionCreateParamsNonStreaming {
  const turns = [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content: question },
  ];
  const base = { model, max_completion_tokens: 2_000, messages: turns };
  switch (option) {
    case 'text':
      return base;
    case 'tools':
      return { ...base, tools: chatTools };
    case 'tool result': {
      const called = { name: 'get_weather', arguments: '{"city":"Köln","days":1}' };
      return {
        ...base,
        tools: chatTools,
        messages: [
          ...turns,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: called }],
          },
          { role: 'tool', tool_call_id: 'call_1', content: result },
        ],
      };
    }
    case 'image': {
      const content = [
        { type: 'text' as const, text: question },
        { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${pixel}` } },
      ];
      return { ...base, messages: [{ role: 'user', content }] };
    }
    case 'thinking':
      return { ...base, reasoning_effort: 'high' };
    case 'structured':
      return {
        ...base,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'weather', schema: weatherSchema, strict: true },
        },
      };
  }
}

const responsesTools = [
  { type: 'function' as const, name: 'get_weather', description, parameters: weatherSchema, strict: null },
];

export function responsesRequest(model: string, option: Option): ResponseCreateParamsNonStreaming {
  const base = { model, max_output_tokens: 2_000, instructions: system, input: question };
  switch (option) {
    case 'text':
      return base;
    case 'tools':
      return { ...base, tools: responsesTools };
    case 'tool result':
      return {
        ...base,
        tools: responsesTools,
        input: [
          { role: 'user', content: question },
          {
            type: 'function_call',
            call_id: 'call_1',
            name: 'get_weather',
            arguments: '{"city":"Köln","days":1}',
          },
          { type: 'function_call_output', call_id: 'call_1', output: result },
        ],
      };
    case 'image': {
      const content = [
        { type: 'input_text' as const, text: question },
        {
          type: 'input_image' as const,
          image_url: `data:image/png;base64,${pixel}`,
          detail: 'auto' as const,
        },
      ];
      return { ...base, input: [{ role: 'user', content }] };
    }
    case 'thinking':
      return { ...base, reasoning: { effort: 'high' } };
    case 'structured':
      return {
        ...base,
        text: { format: { type: 'json_schema', name: 'weather', schema: weatherSchema, strict: true } },
      };
  }
}

/** As Google's SDK writes it; the model is in the path. */
export function geminiRequest(_model: string, option: Option): object {
  const user = { role: 'user', parts: [{ text: question }] };
  const base = {
    contents: [user],
    systemInstruction: { parts: [{ text: system }] },
    generationConfig: { maxOutputTokens: 2_000 },
  };
  const tools = [
    { functionDeclarations: [{ name: 'get_weather', description, parametersJsonSchema: weatherSchema }] },
  ];
  const withConfig = (config: object) => ({
    ...base,
    generationConfig: { ...base.generationConfig, ...config },
  });
  switch (option) {
    case 'text':
      return base;
    case 'tools':
      return { ...base, tools };
    case 'tool result': {
      const called = { id: 'call_1', name: 'get_weather' };
      return {
        ...base,
        tools,
        contents: [
          user,
          { role: 'model', parts: [{ functionCall: { ...called, args: { city: 'Köln', days: 1 } } }] },
          { role: 'user', parts: [{ functionResponse: { ...called, response: { output: result } } }] },
        ],
      };
    }
    case 'image': {
      const parts = [{ text: question }, { inlineData: { mimeType: 'image/png', data: pixel } }];
      return { ...base, contents: [{ role: 'user', parts }] };
    }
    case 'thinking':
      return withConfig({ thinkingConfig: { thinkingBudget: 1_024, includeThoughts: true } });
    case 'structured':
      return withConfig({ responseMimeType: 'application/json', responseJsonSchema: weatherSchema });
  }
}

export const requestOf = {
  messages: messagesRequest,
  chat: chatRequest,
  responses: responsesRequest,
  gemini: geminiRequest,
} satisfies Record<TextDialectName, (model: string, option: Option) => object>;
