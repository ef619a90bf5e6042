import type { Message } from '@anthropic-ai/sdk/resources/messages';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response } from 'openai/resources/responses/responses';
import type { TextDialectName } from '../../src/dialects/registry.ts';
import { pathFor } from './answers.ts';
import {
  chatRequest,
  geminiRequest,
  messagesRequest,
  type Option,
  responsesRequest,
} from './conversations.ts';
import { anthropicClient, openaiClient, post, type TestGateway } from './gateway.ts';

/** An answer as its SDK understood it, in words that are the same for all of them. */
export interface Outcome {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: 'stop' | 'length' | 'tools' | 'refusal';
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

interface Asked {
  readonly client: TextDialectName;
  readonly model: string;
  readonly option: Option;
  readonly isStream: boolean;
  /** Members of the request beside those of the option. */
  readonly more?: object;
}

/**
 * Asks with the dialect's official SDK; of a stream its helper puts the answer together. Google's is only where the clouds
 * are (`test/clouds`): here an answer is read as it does.
 */
export async function askBySdk(
  gateway: Pick<TestGateway, 'url' | 'key'>,
  { client, model, option, isStream, more }: Asked,
): Promise<Outcome> {
  switch (client) {
    case 'messages': {
      const { messages } = anthropicClient(gateway);
      const request = { ...messagesRequest(model, option), ...more };
      return ofMessage(
        isStream ? await messages.stream(request).finalMessage() : await messages.create(request),
      );
    }
    case 'chat': {
      const { completions } = openaiClient(gateway).chat;
      const request = { ...chatRequest(model, option), ...more };
      if (!isStream) return ofCompletion(await completions.create(request));
      const stream = completions.stream({
        ...request,
        stream: true,
        stream_options: { include_usage: true },
      });
      let thinking = '';
      // The helper keeps only the last piece of a field that it does not know.
      stream.on('chunk', ({ choices }) => {
        thinking += reasoningOf(choices[0]?.delta);
      });
      return { ...ofCompletion(await stream.finalChatCompletion()), thinking };
    }
    case 'responses': {
      const { responses } = openaiClient(gateway);
      const request = { ...responsesRequest(model, option), ...more };
      if (!isStream) return ofResponse(await responses.create(request));
      return ofResponse(await responses.stream({ ...request, stream: true }).finalResponse());
    }
    case 'gemini': {
      const path = pathFor('gemini', model, isStream);
      const answer = await post(gateway, path, { ...geminiRequest(model, option), ...more });
      if (!answer.ok) throw geminiError(answer, await answer.text());
      return ofGemini(isStream ? await eventsOf(answer) : [(await answer.json()) as Generated]);
    }
  }
}

function ofMessage({ content, stop_reason, usage }: Message): Outcome {
  const finishes: Readonly<Record<string, Outcome['finish']>> = {
    end_turn: 'stop',
    max_tokens: 'length',
    tool_use: 'tools',
    refusal: 'refusal',
  };
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
    ),
    finish: known(finishes, stop_reason),
    inputTokens: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    cachedTokens: cached,
    outputTokens: usage.output_tokens,
  };
}

function ofCompletion({ choices, usage }: ChatCompletion): Outcome {
  const [choice] = choices;
  if (choice === undefined) throw new Error('an answer without a choice');
  const { message, finish_reason } = choice;
  const finishes: Readonly<Record<string, Outcome['finish']>> = {
    stop: typeof message.refusal === 'string' ? 'refusal' : 'stop',
    length: 'length',
    tool_calls: 'tools',
    content_filter: 'refusal',
  };
  return {
    text: (message.content ?? '') + (message.refusal ?? ''),
    thinking: reasoningOf(message),
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    finish: known(finishes, finish_reason),
    inputTokens: usage?.prompt_tokens ?? -1,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? -1,
  };
}

/** A field that many hosts have and OpenAI's SDK does not know. */
function reasoningOf(message: object | undefined): string {
  const { reasoning_content } = { ...message } as { reasoning_content?: unknown };
  return typeof reasoning_content === 'string' ? reasoning_content : '';
}

function ofResponse({ output, status, incomplete_details, usage }: Response): Outcome {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) as unknown }] : [],
  );
  const isRefusal =
    parts.some((part) => part.type === 'refusal') || incomplete_details?.reason === 'content_filter';
  const finishes: Readonly<Record<string, Outcome['finish']>> = {
    completed: isRefusal ? 'refusal' : calls.length > 0 ? 'tools' : 'stop',
    incomplete: isRefusal ? 'refusal' : 'length',
  };
  return {
    text: parts.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join(''),
    thinking: output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
      .join(''),
    calls,
    finish: known(finishes, status),
    inputTokens: usage?.input_tokens ?? -1,
    cachedTokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? -1,
  };
}

/** As that of Google's SDK, which has the body for its message. */
function geminiError({ status, headers }: globalThis.Response, body: string): Error {
  return Object.assign(new Error(body), { status, headers });
}

interface Generated {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly GeneratedPart[] };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: Readonly<Record<string, number>>;
}

interface GeneratedPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
}

/** An error is a bare object, of whatever lines, and found although the connection breaks behind it. */
async function eventsOf(answer: globalThis.Response): Promise<Generated[]> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch (cause) {
    const error = /(?:^|\n\r?\n)(\{[\s\S]*\})\s*$/.exec(text)?.[1];
    throw error === undefined ? cause : geminiError(answer, error);
  }
  return text.split(/\r?\n\r?\n/).flatMap((event) => {
    if (event.startsWith('{')) throw geminiError(answer, event);
    return event.startsWith('data: ') ? [JSON.parse(event.slice('data: '.length)) as Generated] : [];
  });
}

function ofGemini(events: readonly Generated[]): Outcome {
  const candidates = events.flatMap((event) => event.candidates?.[0] ?? []);
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  const textOf = (isThought: boolean) =>
    parts.map(({ text = '', thought = false }) => (thought === isThought ? text : '')).join('');
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall === undefined ? [] : [{ name: functionCall.name, input: functionCall.args }],
  );
  const finishes: Readonly<Record<string, Outcome['finish']>> = {
    STOP: calls.length > 0 ? 'tools' : 'stop',
    MAX_TOKENS: 'length',
    SAFETY: 'refusal',
  };
  const usage = events.findLast((event) => event.usageMetadata !== undefined)?.usageMetadata ?? {};
  return {
    text: textOf(false),
    thinking: textOf(true),
    calls,
    finish: known(finishes, candidates.flatMap(({ finishReason }) => finishReason ?? []).at(-1)),
    inputTokens: usage.promptTokenCount ?? -1,
    cachedTokens: usage.cachedContentTokenCount ?? 0,
    outputTokens: (usage.candidatesTokenCount ?? -1) + (usage.thoughtsTokenCount ?? 0),
  };
}

function known<Value>(values: Readonly<Record<string, Value>>, name: string | null | undefined): Value {
  const value = values[name ?? ''];
  if (value === undefined) throw new Error(`an unexpected reason to finish: ${name}`);
  return value;
}
