import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import type { Host } from '../../../src/hosts/find-host.ts';
import { startTranslation } from './run-translation.ts';

// What a host said comes back to it as it wants it: its answer goes to a client, which sends it back with the results.

interface Vendor {
  readonly dialect: TextDialectName;
  readonly host: Host;
  readonly targetModel: string;
  readonly answer: object;
  /** What must be in the second request, somewhere. */
  readonly wants: readonly string[];
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const call = { id: 'call_1', type: 'function', function: { name: 'list_plants', arguments: '{}' } };
const chatAnswer = (message: object) => ({
  choices: [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'tool_calls' },
  ],
  usage,
});

const vendors: Readonly<Record<string, Vendor>> = {
  DeepSeek: {
    dialect: 'chat',
    host: 'deepseek',
    targetModel: 'deepseek-v4-pro',
    answer: chatAnswer({ reasoning_content: 'let me look', tool_calls: [call] }),
    wants: ['"reasoning_content":"let me look"'],
  },
  'DeepSeek without a thought': {
    dialect: 'chat',
    host: 'deepseek',
    targetModel: 'deepseek-v4-pro',
    answer: chatAnswer({ tool_calls: [call] }),
    wants: ['"reasoning_content":" "'],
  },
  'Kimi at a router': {
    dialect: 'chat',
    host: 'litellm',
    targetModel: 'moonshotai/kimi-k2.6',
    answer: chatAnswer({ reasoning: 'let me look', tool_calls: [call] }),
    wants: ['"reasoning_content":"let me look"'],
  },
  OpenRouter: {
    dialect: 'chat',
    host: 'openrouter',
    targetModel: 'some/model',
    answer: chatAnswer({ reasoning: 'let me look', tool_calls: [call] }),
    wants: ['"reasoning":"let me look"'],
  },
  'OpenRouter with what Google has signed': {
    dialect: 'chat',
    host: 'openrouter',
    targetModel: 'google/gemini-3-pro',
    answer: chatAnswer({
      reasoning: 'let me look',
      reasoning_details: [
        { type: 'reasoning.text', text: 'let me look', index: 0 },
        { type: 'reasoning.encrypted', data: 'SIG+/=', id: 'call_1', format: 'google-gemini-v1', index: 0 },
      ],
      tool_calls: [call],
    }),
    wants: [
      '"reasoning_details":[{"type":"reasoning.encrypted","data":"SIG+/=","id":"call_1","format":"google-gemini-v1","index":0}]',
    ],
  },
  'OpenRouter with what Anthropic has signed': {
    dialect: 'chat',
    host: 'openrouter',
    targetModel: 'anthropic/claude-opus-5',
    answer: chatAnswer({
      reasoning: 'let me look',
      reasoning_details: [{ type: 'reasoning.text', text: 'let me look', signature: 'SIG+/=', index: 0 }],
      tool_calls: [call],
    }),
    wants: ['"signature":"SIG+/=","index":0,"text":"let me look"'],
  },
  "Google's endpoint of OpenAI's dialect": {
    dialect: 'chat',
    host: 'gemini',
    targetModel: 'gemini-3-pro',
    answer: chatAnswer({
      tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'SIG+/=' } } }],
    }),
    wants: ['"thought_signature":"SIG+/="'],
  },
  Gemini: {
    dialect: 'gemini',
    host: 'gemini',
    targetModel: 'gemini-3-pro',
    answer: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { functionCall: { id: 'call_1', name: 'list_plants', args: {} }, thoughtSignature: 'SIG+/=' },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
    wants: ['"thoughtSignature":"SIG+/="'],
  },
  Claude: {
    dialect: 'messages',
    host: 'anthropic',
    targetModel: 'claude-opus-5',
    answer: {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'let me look', signature: 'SIG+/=' },
        { type: 'redacted_thinking', data: 'HIDDEN+/=' },
        { type: 'tool_use', id: 'toolu_1', name: 'list_plants', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    wants: ['"thinking":"let me look","signature":"SIG+/="', '"data":"HIDDEN+/="'],
  },
  'OpenAI by Responses': {
    dialect: 'responses',
    host: 'openai',
    targetModel: 'gpt-5.5',
    answer: {
      status: 'completed',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'HIDDEN+/=' },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'list_plants',
          arguments: '{}',
          status: 'completed',
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
    wants: ['"id":"rs_1"', '"encrypted_content":"HIDDEN+/="'],
  },
};

/** The client's second request: what it got, and the results of its calls. */
// biome-ignore lint/suspicious/noExplicitAny: what a client got, of which it sends parts back
const replays: Readonly<Record<TextDialectName, (answer: any) => object>> = {
  messages: ({ content }) => ({
    max_tokens: 1_000,
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content },
      {
        role: 'user',
        content: content
          .filter(({ type }: { type: string }) => type === 'tool_use')
          .map(({ id }: { id: string }) => ({ type: 'tool_result', tool_use_id: id, content: 'fern' })),
      },
    ],
  }),
  chat: ({ choices: [{ message }] }) => ({
    messages: [
      { role: 'user', content: 'hello' },
      message,
      ...message.tool_calls.map(({ id }: { id: string }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'fern',
      })),
    ],
  }),
  responses: ({ output }) => ({
    input: [
      { role: 'user', content: 'hello' },
      ...output,
      ...output
        .filter(({ type }: { type: string }) => type === 'function_call')
        .map(({ call_id }: { call_id: string }) => ({
          type: 'function_call_output',
          call_id,
          output: 'fern',
        })),
    ],
  }),
  gemini: ({ candidates: [{ content }] }) => ({
    contents: [
      { role: 'user', parts: [{ text: 'hello' }] },
      content,
      {
        role: 'user',
        parts: content.parts
          .filter((part: { functionCall?: object }) => part.functionCall)
          .map(({ functionCall: { id, name } }: { functionCall: { id: string; name: string } }) => ({
            functionResponse: { id, name, response: { output: 'fern' } },
          })),
      },
    ],
  }),
};

const clients = Object.keys(replays) as TextDialectName[];

describe.each(Object.entries(vendors))(
  '%s gets back what it sent',
  (_name, { dialect, answer, wants, ...changes }) => {
    const others = clients.filter((client) => client !== dialect);

    test.each(others)('through a client of %s', (client) => {
      const { body } = startTranslation(client, dialect, undefined, changes).answer(answer);
      const second = startTranslation(client, dialect, undefined, changes);
      const sent = JSON.stringify(second.request({ model: 'asked-for', ...replays[client](body) }).body);

      for (const want of wants) expect(sent).toContain(want);
    });

    test.each(others)(
      'and a host that refuses such fields gets nothing of it from a client of %s',
      (client) => {
        const { body } = startTranslation(client, dialect, undefined, changes).answer(answer);
        const provider = client === 'chat' ? 'responses' : 'chat';
        const other = startTranslation(client, provider, undefined, { host: 'mistral', origin: 'b' });
        const sent = JSON.stringify(other.request({ model: 'asked-for', ...replays[client](body) }).body);

        for (const part of ['SIG+/=', 'HIDDEN+/=', 'gw1-', 'let me look']) expect(sent).not.toContain(part);
      },
    );
  },
);
