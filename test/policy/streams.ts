import type { ResponseCheck } from '../../src/policy/answers/check-answer.ts';
import { EventReader, StreamEvent } from '../../src/policy/streams/stream-event.ts';

/** Events of one stream with this data. */
export function eventsOf(events: readonly object[]): StreamEvent[] {
  return read(events.map((event) => ({ data: JSON.stringify(event) })));
}

/** Events of one stream. */
function read(events: readonly PlainEvent[]): StreamEvent[] {
  const reader = new EventReader();
  return events.map((event) => new StreamEvent(reader, event));
}

export interface PlainEvent {
  readonly name?: string;
  readonly data: string;
}

const plain = ({ name, written: data }: StreamEvent): PlainEvent =>
  name === undefined ? { data } : { name, data };

/** The check of a stream, with plain events. */
export function streamOf(checker: ResponseCheck) {
  const check = checker.stream();
  const reader = new EventReader();
  return {
    push: (event: PlainEvent) => check.push(new StreamEvent(reader, event)),
    end: () => check.end(),
    take() {
      const { release, ...rest } = check.take();
      return { ...rest, release: release.map(plain) };
    },
    get verdicts() {
      return check.verdicts;
    },
  };
}
