import type { Answer, Part } from '../ask.ts';
import { createdSeconds, type Exchange } from '../exchange.ts';
import { signThinking } from '../signature.ts';
import type { ResponsesRequest } from './responses-request.ts';

type Status = 'in_progress' | 'completed' | 'incomplete';

export type Item = ReturnType<typeof toItem>;

/** The output items; the last one is incomplete if the cap truncated it. */
export function toItems(answer: Answer, exchange: Exchange, request: ResponsesRequest): readonly Item[] {
  return answer.parts.map((part, index) => {
    const isCut = answer.end.kind === 'length' && index === answer.parts.length - 1;
    return toItem({ part, index, status: isCut ? 'incomplete' : 'completed', exchange, request });
  });
}

interface ItemSource {
  readonly part: Part;
  readonly index: number;
  readonly status: Status;
  readonly exchange: Exchange;
  readonly request: ResponsesRequest;
}

function toItem({ part, index, status, exchange: { makeId }, request }: ItemSource) {
  switch (part.kind) {
    case 'thinking': {
      const encrypted = request.wantsEncryptedReasoning ? { encrypted_content: signThinking(part.text) } : {};
      const summary = [{ type: 'summary_text', text: part.text }] as const;
      return { id: makeId('rs_', index), type: 'reasoning', summary, ...encrypted } as const;
    }
    case 'text': {
      const content = [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }] as const;
      return { id: makeId('msg_', index), type: 'message', role: 'assistant', status, content } as const;
    }
    case 'call': {
      const { name, namespace, input } = part.tool;
      const call_id = makeId('call_', index);
      if (input.kind === 'text') {
        return {
          id: makeId('ctc_', index),
          type: 'custom_tool_call',
          status,
          call_id,
          name,
          input: part.inputText,
        } as const;
      }
      const place = namespace === undefined ? {} : { namespace };
      const call = {
        type: 'function_call',
        status,
        call_id,
        name,
        ...place,
        arguments: part.inputText,
      } as const;
      return { id: makeId('fc_', index), ...call };
    }
  }
}

export function toUsage({ ask }: ResponsesRequest, { outputTokens, thinkingTokens }: Answer) {
  return {
    input_tokens: ask.inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinkingTokens },
    total_tokens: ask.inputTokens + outputTokens,
  };
}

interface Result {
  readonly output?: readonly Item[];
  readonly usage?: ReturnType<typeof toUsage>;
  readonly completed_at?: number;
}

export type ResponseBody = ReturnType<typeof responseBody>;

/** The response with the request's own fields, or their defaults. */
export function responseBody({ body: { fields }, model, makeId }: Exchange, status: Status, result: Result) {
  return {
    id: makeId('resp_'),
    object: 'response',
    created_at: createdSeconds,
    status,
    background: false,
    completed_at: status === 'completed' ? (result.completed_at ?? null) : null,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    model,
    output: result.output ?? [],
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    reasoning: fields.reasoning ?? { effort: null, summary: null },
    safety_identifier: fields.safety_identifier ?? null,
    service_tier: 'default',
    store: fields.store ?? true,
    temperature: fields.temperature ?? 1,
    text: { format: { type: 'text' }, ...(fields.text as object | undefined) },
    tool_choice: fields.tool_choice ?? 'auto',
    tools: fields.tools ?? [],
    top_logprobs: fields.top_logprobs ?? 0,
    top_p: fields.top_p ?? 1,
    truncation: fields.truncation ?? 'disabled',
    usage: result.usage ?? null,
    user: fields.user ?? null,
    metadata: fields.metadata ?? {},
  };
}
