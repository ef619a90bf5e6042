import type { CallStart, StreamWriter } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { WriteEvent } from '../sse.ts';
import type { TranslationContext } from '../translation/context.ts';
import { openThought, sealText } from '../translation/seals.ts';
import { toCallId } from '../translation/tool-names.ts';
import { buildStop } from './answer.ts';
import { BlockQueue } from './block-queue.ts';
import { messagesErrorBody } from './errors.ts';
import { buildMessagesUsage } from './usage.ts';

/**
 * Writes a Messages stream. Its blocks are strictly sequential, while the calls of other dialects may be interleaved;
 * `BlockQueue` puts them in order.
 */
export function createMessagesWriter(
  context: TranslationContext,
  _echo: Fields,
  write: WriteEvent,
): StreamWriter {
  let index = -1;
  let deltaHead = '';
  let deltaTail = '';
  let openKind: 'text' | 'thinking' | 'call' | undefined;
  let isRefused = false;

  function emit(type: string, fields: object): void {
    write(type, JSON.stringify({ type, ...fields }));
  }

  function open(kind: 'text' | 'thinking' | 'call', block: object, deltaType: string, key: string): void {
    index += 1;
    openKind = kind;
    emit('content_block_start', { index, content_block: block });
    deltaHead = `{"type":"content_block_delta","index":${index},"delta":{"type":"${deltaType}","${key}":`;
    deltaTail = '}}';
  }

  const queue = new BlockQueue({
    openText: () => open('text', { type: 'text', text: '' }, 'text_delta', 'text'),
    openThinking: () =>
      open('thinking', { type: 'thinking', thinking: '', signature: '' }, 'thinking_delta', 'thinking'),
    openCall: (call: CallStart) => {
      const id = call.id === '' ? context.newId('toolu_') : toCallId(call.id);
      const block = { type: 'tool_use', id, name: call.name, input: {} };
      open('call', block, 'input_json_delta', 'partial_json');
    },
    piece: (text) => write('content_block_delta', deltaHead + JSON.stringify(text) + deltaTail),
    sealed: (data) => {
      index += 1;
      emit('content_block_start', { index, content_block: { type: 'redacted_thinking', data } });
      emit('content_block_stop', { index });
    },
    close: (seal = openThought) => {
      if (openKind === 'thinking') {
        emit('content_block_delta', { index, delta: { type: 'signature_delta', signature: seal } });
      }
      emit('content_block_stop', { index });
    },
  });

  return {
    start(usage) {
      emit('message_start', {
        message: {
          id: context.newId('msg_'),
          type: 'message',
          role: 'assistant',
          model: context.requestedModel,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...buildMessagesUsage(usage), output_tokens: 0 },
        },
      });
      emit('ping', {});
    },
    thinking: (text) => queue.add('thinking', text),
    text: (text) => queue.add('text', text),
    refusal(text) {
      isRefused = true;
      queue.add('text', text);
    },
    seal: (seal) => queue.seal(sealText(seal, context)),
    callStart: (call) => queue.startCall(call, call.seal && sealText(call.seal, context)),
    callInput: (call, piece) => queue.addInput(call, piece),
    callEnd: (call) => queue.endCall(call),
    ping: () => emit('ping', {}),
    complete(finish, usage, stopSequence) {
      queue.finish();
      const delta = buildStop(isRefused ? 'filter' : finish, stopSequence);
      emit('message_delta', { delta, usage: buildMessagesUsage(usage) });
      emit('message_stop', {});
    },
    fail: (failure) => emit('error', messagesErrorBody(failure)),
  };
}
