import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';

/** The members of a response that repeat the request, with the defaults of the dialect. */
export function buildEcho(request: Fields): Fields {
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: request.reasoning ?? { effort: null, summary: null },
    store: false,
    temperature: request.temperature ?? null,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    metadata: request.metadata ?? {},
  };
}

interface ResponseState {
  readonly id: string;
  readonly echo: Fields;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Fields[];
  readonly usage: Fields | null;
  readonly error?: Fields | null;
  readonly incomplete_details?: Fields | null;
}

/** A response object in the given state. */
export function buildResponse(context: TranslationContext, state: ResponseState): Fields {
  return {
    id: state.id,
    object: 'response',
    created_at: context.createdS,
    status: state.status,
    error: state.error ?? null,
    incomplete_details: state.incomplete_details ?? null,
    model: context.requestedModel,
    output: state.output,
    ...state.echo,
    usage: state.usage,
  };
}
