import { type FullUsage, noUsage, type StreamWriter } from '../conversation.ts';
import { buildFailure } from '../translation/errors.ts';
import { type Fields, toText } from '../translation/fields.ts';
import type { TranslationContext } from '../translation/quirks.ts';
import { buildResponse } from './echo.ts';
import { buildResponsesUsage, buildStatus } from './usage.ts';
import { createItemWriter } from './write-items.ts';

/** Writes a Responses stream: every payload is numbered, and the last one holds the whole response. */
export function createResponsesWriter(context: TranslationContext, echo: Fields): StreamWriter {
  const id = context.newId('resp_');
  let out = '';
  let sequence = 0;
  let usage: FullUsage = noUsage;
  let isStarted = false;

  /** `members` are the payload's further members as JSON text. */
  function emit(type: string, members: string): void {
    out += `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
    sequence += 1;
  }

  const items = createItemWriter(context, emit);

  function emitResponse(type: string, state: Omit<Parameters<typeof buildResponse>[1], 'id' | 'echo'>): void {
    emit(type, `"response":${JSON.stringify(buildResponse(context, { id, echo, ...state }))}`);
  }

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    const state = { status: 'in_progress', output: [], usage: null } as const;
    emitResponse('response.created', state);
    emitResponse('response.in_progress', state);
  }

  return {
    start,
    thinking: items.thinking,
    text: items.text,
    refusal: items.refusal,
    callStart: items.callStart,
    callInput: items.callInput,
    callEnd: items.callEnd,
    ping() {
      out += ': ping\n\n';
    },
    usage(latest) {
      usage = latest;
    },
    complete(finish) {
      const state = buildStatus(finish);
      const output = items.finish(state.status);
      emitResponse(`response.${state.status}`, { ...state, output, usage: buildResponsesUsage(usage) });
    },
    fail(failure) {
      start();
      const error = buildFailure('responses', failure).error;
      const code = toResponsesCode(failure.type, failure.code);
      const state = { status: 'failed', output: [], usage: null } as const;
      emitResponse('response.failed', { ...state, error: { ...toMembers(error), code } });
      // Codex acts on the event above; the SDKs of OpenAI raise an exception only for this one, and the
      // older of them only if it has a member `error`.
      const { message, param } = toMembers(error);
      const request = failure.requestId === undefined ? {} : { request_id: failure.requestId };
      const last = {
        code,
        message: toText(message),
        param: param ?? null,
        error: { ...toMembers(error), code },
        ...request,
      };
      emit('error', JSON.stringify(last).slice(1, -1));
    },
    take() {
      const text = out;
      out = '';
      return text;
    },
  };
}

function toMembers(error: unknown): Fields {
  return typeof error === 'object' && error !== null ? { ...error } : {};
}

const finalTypes = ['invalid_request_error', 'permission_error', 'authentication_error', 'not_found_error'];

// Codex tries again on `server_error` and on every code it does not know, and stops at `invalid_prompt`.
function toResponsesCode(type: string, code: string | undefined): string {
  if (code === 'context_length_exceeded' || code === 'insufficient_quota') return code;
  if (type === 'rate_limit_error') return 'rate_limit_exceeded';
  return finalTypes.includes(type) ? 'invalid_prompt' : 'server_error';
}
