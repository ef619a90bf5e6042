import type { StreamWriter } from '../conversation.ts';
import { type Fields, toFields } from '../fields.ts';
import { pingComment, type WriteEvent } from '../sse.ts';
import type { TranslationContext } from '../translation/context.ts';
import { callMembers, encryptedDetail, extraContent, finishReasons } from './answer.ts';
import { chatErrorEvent } from './errors.ts';
import { buildChatUsage } from './usage.ts';

/** Writes a Chat stream. Every chunk repeats the same head, so it is made once. */
export function createChatWriter(
  context: TranslationContext,
  { stream_options: options }: Fields,
  write: WriteEvent,
): StreamWriter {
  const includesUsage = toFields(options).include_usage === true;
  const head = `${JSON.stringify({
    id: context.newId('chatcmpl-'),
    object: 'chat.completion.chunk',
    created: context.createdS,
    model: context.requestedModel,
  }).slice(0, -1)},"choices":[`;
  const usageTail = includesUsage ? '],"usage":null}' : ']}';
  const deltaTail = `},"logprobs":null,"finish_reason":null}${usageTail}`;
  const customCalls = new Set<number>();
  const delta = (members: string) => write(undefined, `${head}{"index":0,"delta":{${members}${deltaTail}`);

  return {
    start: () => delta('"role":"assistant","content":""'),
    thinking: (text) => delta(`"reasoning_content":${JSON.stringify(text)}`),
    seal: (seal) => delta(`"reasoning_details":[${JSON.stringify(encryptedDetail(seal, context))}]`),
    text: (text) => delta(`"content":${JSON.stringify(text)}`),
    refusal: (text) => delta(`"refusal":${JSON.stringify(text)}`),
    callStart(call) {
      const id = call.id === '' ? context.newId('call_') : call.id;
      if (call.kind === 'custom') customCalls.add(call.index);
      delta(
        `"tool_calls":[${JSON.stringify({ index: call.index, id, ...callMembers(call, ''), ...extraContent(call, context) })}]`,
      );
    },
    callInput(index, piece) {
      const key = customCalls.has(index) ? '"custom":{"input":' : '"function":{"arguments":';
      delta(`"tool_calls":[{"index":${index},${key}${JSON.stringify(piece)}}}]`);
    },
    callEnd() {},
    ping: () => write(pingComment.name, pingComment.data),
    complete(finish, usage) {
      const reason = JSON.stringify(finishReasons[finish]);
      write(undefined, `${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":${reason}}${usageTail}`);
      if (includesUsage) write(undefined, `${head}],"usage":${JSON.stringify(buildChatUsage(usage))}}`);
      write(undefined, '[DONE]');
    },
    fail: (failure) => write(undefined, chatErrorEvent(failure).data),
  };
}
