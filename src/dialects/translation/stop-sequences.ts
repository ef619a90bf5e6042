import { GatewayError } from '../../errors.ts';
import type { Answer, AnswerPart, FinishReason, StreamSink } from '../conversation.ts';
import { HeldText } from '../held-text.ts';

/** The gateway searches each piece of an answer for all of them, which may hold up other exchanges. */
const countLimit = 100;
const lengthLimit = 10_000;

/** The stop sequences that a provider does not act on. Throws request.unsupported if they are too many to search for. */
export function stopsToCut(wanted: readonly string[], passed: readonly string[]): readonly string[] {
  const known = new Set(passed);
  const stops = [...new Set(wanted)].filter((stop) => !known.has(stop));
  const length = stops.reduce((sum, stop) => sum + stop.length, 0);
  if (stops.length <= countLimit && length <= lengthLimit) return stops;
  const limits = `at most ${countLimit} of together ${lengthLimit} characters can be used with a provider that knows none`;
  throw new GatewayError('request.unsupported', `too many or too long stop sequences: ${limits}`);
}

/** Hosts say as well what else they have stopped at, such as their own mark of an answer's end. */
export function endedBy(
  finish: FinishReason,
  sequence: string | undefined,
  asked: readonly string[],
): { readonly finish: FinishReason; readonly stopSequence: string | undefined } {
  if (finish !== 'sequence') return { finish, stopSequence: undefined };
  if (sequence !== undefined && asked.includes(sequence)) return { finish, stopSequence: sequence };
  return { finish: 'stop', stopSequence: undefined };
}

/** Finds the first stop sequence in a text that comes in pieces. */
function createStopSearch(stops: readonly string[]) {
  const text = new HeldText();
  let found: string | undefined;

  return {
    /** The text that can be sent: up to a match, or to what may be the beginning of one. */
    add(piece: string): string {
      text.add(piece);
      const match = firstMatch(text.rest, stops);
      found = match?.stop;
      text.release(
        match === undefined ? text.length - begunLength(text.rest, stops) : text.from + match.start,
      );
      return text.take();
    },
    /** What was held back: the text ends here. */
    flush(): string {
      text.release(text.length);
      return text.take();
    },
    /** The sequence that was found. */
    get found(): string | undefined {
      return found;
    },
  };
}

/** The match that completes first, however the text was split; of two the longer one. */
export function firstMatch(
  text: string,
  stops: readonly string[],
): { start: number; stop: string } | undefined {
  let first: { start: number; stop: string } | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    if (start < 0) continue;
    const lead = first === undefined ? 1 : first.start + first.stop.length - (start + stop.length);
    if (first === undefined || lead > 0 || (lead === 0 && start < first.start)) first = { start, stop };
  }
  return first;
}

/** How many of the last characters may be the beginning of a stop sequence. */
function begunLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}

/** The answer up to the first of the stop sequences, for hosts that do not take them. */
export function cutAnswer(answer: Answer, stops: readonly string[]): Answer {
  if (stops.length === 0) return answer;
  const search = createStopSearch(stops);
  const parts: AnswerPart[] = [];
  const addText = (text: string) => {
    const last = parts.at(-1);
    if (last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + text };
    else if (text !== '') parts.push({ kind: 'text', text });
  };
  for (const part of answer.parts) {
    if (part.kind === 'text') addText(search.add(part.text));
    else {
      addText(search.flush());
      parts.push(part);
    }
    if (search.found !== undefined)
      return { ...answer, parts, finish: 'sequence', stopSequence: search.found };
  }
  addText(search.flush());
  return { ...answer, parts };
}

/**
 * The same for a stream: a sink in front of the writer's, to which nothing passes after the cut. `beforeCut` is
 * called when a sequence has matched, before the answer is completed.
 */
export function cutStream(sink: StreamSink, stops: readonly string[], beforeCut: () => void): StreamSink {
  if (stops.length === 0) return sink;
  const search = createStopSearch(stops);
  let isCut = false;

  const addText = (text: string) => {
    if (text !== '') sink.text(text);
  };
  /** Everything but text: it ends the text before it, and nothing passes after the cut. */
  const behindText =
    <Values extends readonly unknown[]>(call: (...values: Values) => void) =>
    (...values: Values) => {
      if (isCut) return;
      addText(search.flush());
      call(...values);
    };
  const unlessCut =
    <Values extends readonly unknown[]>(call: (...values: Values) => void) =>
    (...values: Values) => {
      if (!isCut) call(...values);
    };

  return {
    start: unlessCut(sink.start),
    ping: unlessCut(sink.ping),
    usage: unlessCut(sink.usage),
    thinking: behindText(sink.thinking),
    seal: behindText(sink.seal),
    refusal: behindText(sink.refusal),
    callStart: behindText(sink.callStart),
    callInput: unlessCut(sink.callInput),
    callEnd: unlessCut(sink.callEnd),
    complete: behindText(sink.complete),
    fail: behindText(sink.fail),
    text(piece) {
      if (isCut) return;
      addText(search.add(piece));
      if (search.found === undefined) return;
      beforeCut();
      isCut = true;
      sink.complete('sequence', search.found);
    },
  };
}
