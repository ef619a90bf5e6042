import { finishedWhole, finishesOf } from '../dialect.ts';
import { type Fields, toFields, toText } from '../fields.ts';

/** Which candidates an event ends; the only one if the prompt gets no answer. */
export function geminiFinishes(event: Fields): ReadonlyMap<number, boolean> {
  if (isBlocked(event)) return finishedWhole;
  return finishesOf(event.candidates, ({ finishReason }) => {
    const reason = toText(finishReason);
    return reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED';
  });
}

/** Whether the prompt was refused, so that there are no candidates. */
export function isBlocked(body: Fields): boolean {
  const reason = toText(toFields(body.promptFeedback).blockReason);
  return reason !== '' && reason !== 'BLOCK_REASON_UNSPECIFIED';
}
