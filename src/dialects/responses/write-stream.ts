import type { StreamWriter } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { WriteEvent } from '../sse.ts';
import type { TranslationContext } from '../translation/context.ts';
import { openAiErrorBody } from '../translation/openai.ts';
import { sealText } from '../translation/seals.ts';
import { buildResponse, buildStatus } from './answer.ts';
import { responsesErrorCode, responsesErrorEvent } from './errors.ts';
import { buildResponsesUsage } from './usage.ts';
import { createCallWriter, createOutputList, createTextWriter } from './write-items.ts';

/** Writes a Responses stream: every payload is numbered, and the last one holds the whole response. */
export function createResponsesWriter(
  context: TranslationContext,
  echo: Fields,
  write: WriteEvent,
): StreamWriter {
  const id = context.newId('resp_');
  let sequence = 0;
  let isStarted = false;

  /** `members` are the payload's further members as JSON text. */
  function emit(type: string, members: string): void {
    write(type, `{"type":"${type}","sequence_number":${sequence},${members}}`);
    sequence += 1;
  }

  const output = createOutputList(emit);
  const texts = createTextWriter(context, output, emit);
  const calls = createCallWriter(context, output, emit);

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
    startsEmpty: true,
    thinking: (text) => texts.add('thinking', text),
    text: (text) => texts.add('text', text),
    refusal: (text) => texts.add('refusal', text),
    seal: (seal) => texts.seal(sealText(seal, context)),
    callStart(call) {
      texts.close('completed');
      if (call.seal !== undefined) texts.seal(sealText(call.seal, context));
      calls.start(call);
    },
    callInput: calls.input,
    callEnd: calls.end,
    // OpenAI's own sign of life; Codex takes no comment for one.
    ping() {
      write('keepalive', `{"type":"keepalive","sequence_number":${sequence}}`);
      sequence += 1;
    },
    complete(finish, usage) {
      const state = buildStatus(finish);
      const { status } = state;
      // What is open is closed in the order of the output.
      calls.closeBefore(status, texts.openIndex() ?? 0);
      texts.close(status);
      calls.closeBefore(status);
      const ended = { ...state, output: output.items, usage: buildResponsesUsage(usage) };
      emitResponse(`response.${status}`, ended);
    },
    fail(failure) {
      start();
      const code = responsesErrorCode(failure);
      const error = { ...openAiErrorBody(failure).error, code };
      // Codex acts on this event, the SDKs on the one after it.
      emitResponse('response.failed', { status: 'failed', output: [], usage: null, error });
      const { name, data: event } = responsesErrorEvent(failure, sequence);
      write(name, event);
    },
  };
}
