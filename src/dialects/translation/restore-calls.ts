import type { Answer, StreamSink, ToolCall } from '../conversation.ts';
import type { ToolNames } from './tool-names.ts';
import { createInputUnwrapper } from './unwrap-stream.ts';
import { unwrapInput } from './wrap-custom.ts';

/** The answer with its calls as the client knows them: full names, namespaces apart, custom input unwrapped. */
export function restoreAnswer(answer: Answer, names: ToolNames): Answer {
  const parts = answer.parts.map((part) =>
    part.kind === 'call' ? { ...part, call: restoreCall(part.call, names) } : part,
  );
  return { ...answer, parts };
}

function restoreCall(call: ToolCall, names: ToolNames): ToolCall {
  const original = names.fromWire(call.name);
  const isWrapped = original.kind === 'custom' && call.kind === 'function';
  return { ...call, ...original, input: isWrapped ? unwrapInput(call.input) : call.input };
}

/** The same for a stream: a sink in front of the writer's. */
export function restoreCalls(sink: StreamSink, names: ToolNames): StreamSink {
  const wrapped = new Map<number, ReturnType<typeof createInputUnwrapper>>();

  function finish(index: number): void {
    const rest = wrapped.get(index)?.end() ?? '';
    wrapped.delete(index);
    if (rest !== '') sink.callInput(index, rest);
  }

  return {
    ...sink,
    callStart(call) {
      const original = names.fromWire(call.name);
      if (original.kind === 'custom' && call.kind === 'function') {
        wrapped.set(call.index, createInputUnwrapper());
      }
      sink.callStart({ ...call, ...original });
    },
    callInput(index, piece) {
      const unwrapper = wrapped.get(index);
      const text = unwrapper === undefined ? piece : unwrapper.add(piece);
      if (text !== '') sink.callInput(index, text);
    },
    callEnd(index) {
      finish(index);
      sink.callEnd(index);
    },
    complete(reason, stopSequence) {
      for (const index of [...wrapped.keys()]) finish(index);
      sink.complete(reason, stopSequence);
    },
  };
}
