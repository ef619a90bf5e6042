import type { TextDialectName } from '../../../src/dialects/registry.ts';

/** The same answers as each provider writes them whole. */
export const text = 'Grüße aus dem 🌿-Haus';
const thought = 'The user asks about plants…';
const koeln = { city: 'Köln 🏰', days: 3 };
const bonn = { city: 'Bonn' };

function chat(message: object, finishReason: string) {
  return {
    id: 'chatcmpl-B9x',
    object: 'chat.completion',
    created: 1_763_000_001,
    model: 'host-model',
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: finishReason },
    ],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 25,
      total_tokens: 145,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function chatCall(id: string, input: unknown) {
  return { id, type: 'function', function: { name: 'get_weather', arguments: JSON.stringify(input) } };
}

function messages(content: object[], stopReason: string) {
  return {
    id: 'msg_01X',
    type: 'message',
    role: 'assistant',
    model: 'claude-host',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: 70,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 40,
      output_tokens: 25,
    },
  };
}

function toolUse(id: string, input: unknown) {
  return { type: 'tool_use', id, name: 'get_weather', input };
}

function responses(output: object[], reason?: string) {
  return {
    id: 'resp_01',
    object: 'response',
    created_at: 1_763_000_001,
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: 'gpt-host',
    output,
    usage: {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 145,
    },
  };
}

function outputMessage(part: object) {
  return { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
}

function outputText(value: string) {
  return outputMessage({ type: 'output_text', text: value, annotations: [], logprobs: [] });
}

function functionCall(callId: string, input: unknown) {
  return {
    id: `fc_${callId}`,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name: 'get_weather',
    arguments: JSON.stringify(input),
  };
}

function gemini(parts: object[], finishReason: string) {
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0, avgLogprobs: -0.1 }],
    usageMetadata: {
      promptTokenCount: 120,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 25,
      totalTokenCount: 145,
    },
    modelVersion: 'gemini-host',
    responseId: 'Zk1XaY',
  };
}

function geminiCall(args: unknown) {
  return { functionCall: { name: 'get_weather', args } };
}

export const plainAnswers = {
  chat: {
    text: chat({ content: text, refusal: null }, 'stop'),
    'one tool': chat({ content: null, tool_calls: [chatCall('call_a', koeln)] }, 'stop'),
    'two tools': chat(
      { content: '', tool_calls: [chatCall('call_a', koeln), chatCall('call_b', bonn)] },
      'tool_calls',
    ),
    thinking: chat({ content: text, reasoning_content: thought }, 'stop'),
    length: chat({ content: text }, 'length'),
    refusal: chat({ content: null, refusal: 'No.' }, 'stop'),
  },
  messages: {
    text: messages([{ type: 'text', text }], 'end_turn'),
    'one tool': messages([toolUse('toolu_a', koeln)], 'tool_use'),
    'two tools': messages([toolUse('toolu_a', koeln), toolUse('toolu_b', bonn)], 'tool_use'),
    thinking: messages(
      [
        { type: 'thinking', thinking: thought, signature: 'EqQB' },
        { type: 'text', text },
      ],
      'end_turn',
    ),
    length: messages([{ type: 'text', text }], 'max_tokens'),
    refusal: messages([{ type: 'text', text: 'No.' }], 'refusal'),
  },
  responses: {
    text: responses([outputText(text)]),
    'one tool': responses([functionCall('call_a', koeln)]),
    'two tools': responses([functionCall('call_a', koeln), functionCall('call_b', bonn)]),
    thinking: responses([
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] },
      outputText(text),
    ]),
    length: responses([outputText(text)], 'max_output_tokens'),
    refusal: responses([outputMessage({ type: 'refusal', refusal: 'No.' })]),
  },
  gemini: {
    text: gemini([{ text }], 'STOP'),
    'one tool': gemini([geminiCall(koeln)], 'STOP'),
    'two tools': gemini([geminiCall(koeln), geminiCall(bonn)], 'STOP'),
    thinking: gemini(
      [
        { text: thought, thought: true },
        { text, thoughtSignature: 'EqQB' },
      ],
      'STOP',
    ),
    length: gemini([{ text }], 'MAX_TOKENS'),
    refusal: gemini([{ text: 'No.' }], 'SAFETY'),
  },
} satisfies Record<TextDialectName, unknown>;
