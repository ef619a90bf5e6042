import type { Dialect } from './dialect.ts';
import { errorInside } from './failure.ts';
import { brokenAnswer, type Fields, isFields, parseJson } from './fields.ts';
import { type SseEvent, SseParser } from './sse.ts';
import { StreamObserver } from './stream-observer.ts';

// An answer in the form that was asked for, from a host that always streams or never does. Both are the provider's dialect,
// so nothing is lost.

/** The events that say the same as a whole answer; undefined if its dialect has no such form. */
export function eventsOf({ codec }: Dialect, answer: Fields): readonly SseEvent[] | undefined {
  return codec?.forms?.events(answer);
}

/** The whole answer of a stream. An error in it is the answer. Throws provider.broken_response for a stream that was cut. */
export function wholeOf(dialect: Dialect, stream: Buffer): Fields {
  const events: Fields[] = [];
  const parser = new SseParser((_name, data) => {
    const event = parseJson(data);
    if (isFields(event)) events.push(event);
  });
  parser.push(stream);
  parser.end();
  const error = events.find((event) => errorInside(event) !== undefined);
  if (error !== undefined) return error;
  const observer = new StreamObserver(dialect);
  observer.observe(stream);
  const forms = dialect.codec?.forms;
  if (!observer.isComplete || forms === undefined) throw brokenAnswer('is a stream without its end');
  return forms.whole(events);
}
