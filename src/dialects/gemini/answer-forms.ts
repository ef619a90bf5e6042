import { type Fields, toCount, toFields, toList } from '../fields.ts';
import { type SseEvent, toEvent } from '../sse.ts';

/** A whole answer is an event already. */
export function geminiEvents(answer: Fields): readonly SseEvent[] {
  return [toEvent(answer)];
}

/** The answer that the events of a stream say. */
export function wholeGemini(events: readonly Fields[]): Fields {
  const answer: Record<string, unknown> = {};
  const candidates = new Map<number, { fields: Record<string, unknown>; parts: Record<string, unknown>[] }>();
  for (const { candidates: list, ...event } of events) {
    Object.assign(answer, event);
    for (const { content, ...fields } of toList(list).map(toFields)) {
      const at = toCount(fields.index);
      const known = candidates.get(at) ?? { fields: {}, parts: [] };
      candidates.set(at, known);
      Object.assign(known.fields, fields);
      for (const part of toList(toFields(content).parts)) addPart(known.parts, toFields(part));
    }
  }
  const gathered = [...candidates.values()].map(({ fields, parts }) => ({
    ...fields,
    content: { role: 'model', parts },
  }));
  return gathered.length === 0 ? answer : { ...answer, candidates: gathered };
}

/** Texts go on, of a thought as of an answer; a signature ends them. */
function addPart(parts: Record<string, unknown>[], { ...part }: Fields): void {
  const last = parts.at(-1);
  const { text, thought: _, ...others } = last ?? {};
  const goesOn =
    typeof text === 'string' && Object.keys(others).length === 0 && last?.thought === part.thought;
  if (last !== undefined && goesOn && typeof part.text === 'string')
    Object.assign(last, part, { text: text + part.text });
  else parts.push(part);
}
