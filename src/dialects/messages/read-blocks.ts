import type { StreamSink } from '../conversation.ts';
import { type Fields, stringifyAnswer, toFields, toText } from '../fields.ts';

/** The content blocks of a Messages stream, of which one is open at a time. */
export function createMessagesBlocks(sink: StreamSink) {
  let calls = 0;
  let isCallOpen = false;

  function text(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') sink.text(piece);
  }

  function thinking(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') sink.thinking(piece);
  }

  function startCall(block: Fields): void {
    isCallOpen = true;
    sink.callStart({ index: calls, id: toText(block.id), name: toText(block.name), kind: 'function' });
    // Anthropic sends `{}` here and the input as deltas; some hosts send all of it in one piece.
    const input = stringifyAnswer(toFields(block.input));
    if (input !== '{}') sink.callInput(calls, input);
  }

  return {
    start(block: Fields): void {
      if (block.type === 'text') text(block.text);
      else if (block.type === 'thinking') thinking(block.thinking);
      else if (block.type === 'tool_use') startCall(block);
    },
    delta(delta: Fields): void {
      switch (delta.type) {
        case 'text_delta':
          text(delta.text);
          return;
        case 'thinking_delta':
          thinking(delta.thinking);
          return;
        case 'input_json_delta':
          // Server tools stream their input too; it belongs to no call of the client's.
          if (isCallOpen) sink.callInput(calls, toText(delta.partial_json));
      }
    },
    stop(): void {
      if (!isCallOpen) return;
      isCallOpen = false;
      sink.callEnd(calls);
      calls += 1;
    },
  };
}
