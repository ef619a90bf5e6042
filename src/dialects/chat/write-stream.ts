import type { ProviderFailure, StreamWriter } from '../conversation.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { openAiErrorBody } from '../translation/openai.ts';
import { noUsage, type Usage } from '../usage.ts';
import { finishReasons } from './finish.ts';
import { buildChatUsage } from './usage.ts';

interface ChatStreamOptions {
  /** The client asked for `stream_options.include_usage`. */
  readonly includesUsage: boolean;
}

/** Writes a Chat stream. Every chunk repeats the same head, so it is made once. */
export function createChatWriter(context: TranslationContext, options: ChatStreamOptions): StreamWriter {
  const head = `data: ${JSON.stringify({
    id: context.newId('chatcmpl-'),
    object: 'chat.completion.chunk',
    created: context.createdS,
    model: context.requestedModel,
  }).slice(0, -1)},"choices":[`;
  const usageTail = options.includesUsage ? '],"usage":null}\n\n' : ']}\n\n';
  const deltaTail = `},"logprobs":null,"finish_reason":null}${usageTail}`;
  const customCalls = new Set<number>();
  let out = '';
  let usage: Usage = noUsage;

  const delta = (members: string) => {
    out += `${head}{"index":0,"delta":{${members}${deltaTail}`;
  };

  return {
    start: () => delta('"role":"assistant","content":""'),
    thinking: (text) => delta(`"reasoning_content":${JSON.stringify(text)}`),
    text: (text) => delta(`"content":${JSON.stringify(text)}`),
    refusal: (text) => delta(`"refusal":${JSON.stringify(text)}`),
    callStart(call) {
      const id = call.id === '' ? context.newId('call_') : call.id;
      const isCustom = call.kind === 'custom';
      if (isCustom) customCalls.add(call.index);
      const nested = isCustom
        ? { type: 'custom', custom: { name: call.name, input: '' } }
        : { type: 'function', function: { name: call.name, arguments: '' } };
      delta(`"tool_calls":[${JSON.stringify({ index: call.index, id, ...nested })}]`);
    },
    callInput(index, piece) {
      const key = customCalls.has(index) ? '"custom":{"input":' : '"function":{"arguments":';
      delta(`"tool_calls":[{"index":${index},${key}${JSON.stringify(piece)}}}]`);
    },
    callEnd() {},
    ping() {
      out += ': ping\n\n';
    },
    usage(latest) {
      usage = latest;
    },
    complete(finish) {
      const reason = JSON.stringify(finishReasons[finish]);
      out += `${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":${reason}}${usageTail}`;
      if (options.includesUsage) out += `${head}],"usage":${JSON.stringify(buildChatUsage(usage))}}\n\n`;
      out += 'data: [DONE]\n\n';
    },
    fail(failure) {
      out += chatErrorEvent(failure);
    },
    take() {
      const text = out;
      out = '';
      return text;
    },
  };
}

export function chatErrorEvent(failure: ProviderFailure): string {
  return `data: ${JSON.stringify(openAiErrorBody(failure))}\n\n`;
}
