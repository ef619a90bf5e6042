import { decodeShortEscape } from '../../json/short-escapes.ts';
import type { Answer, StreamSink, ToolCall } from '../conversation.ts';
import { type ToolNames, unwrapInput } from './tool-names.ts';

const head = '{"input":"';
// White space may precede these characters of the head: `{`, the key, the colon, the value.
const gaps = new Set([0, 1, 8, 9]);

/**
 * Extracts the text of `{"input":"…"}` as its pieces arrive. Arguments of any other form are buffered and unwrapped at
 * the end.
 */
export function createInputUnwrapper(): { add(piece: string): string; end(): string } {
  let state: 'head' | 'text' | 'tail' | 'other' = 'head';
  let matched = 0;
  let whole = '';
  /** An escape that continues in the next piece. */
  let pending = '';

  function readHead(piece: string): string {
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      if (character === head.charAt(matched)) matched += 1;
      else if (!(gaps.has(matched) && character.trim() === '')) {
        state = 'other';
        return '';
      }
      if (matched < head.length) continue;
      state = 'text';
      whole = '';
      return readText(piece.slice(at + 1));
    }
    return '';
  }

  function readText(piece: string): string {
    let text = '';
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      if (pending !== '' || character === '\\') {
        pending += character;
        const decoded = decodeEscape(pending);
        if (decoded === undefined) continue;
        pending = '';
        text += decoded;
      } else if (character === '"') {
        state = 'tail';
        return text;
      } else text += character;
    }
    return text;
  }

  return {
    add(piece) {
      if (state === 'text') return readText(piece);
      if (state === 'tail') return '';
      whole += piece;
      return state === 'head' ? readHead(piece) : '';
    },
    end() {
      const rest = whole;
      whole = '';
      return rest === '' ? '' : unwrapInput(rest);
    },
  };
}

/** The character that a whole escape stands for; undefined while it is incomplete. */
function decodeEscape(pending: string): string | undefined {
  if (pending.length < 2) return undefined;
  const letter = pending.charAt(1);
  if (letter !== 'u') return decodeShortEscape(letter);
  if (pending.length < 6) return undefined;
  return String.fromCharCode(Number.parseInt(pending.slice(2), 16));
}

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
