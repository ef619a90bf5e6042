import type { Fields } from '../fields.ts';

/** Sends an event; `members` are the payload's further members as JSON text. */
export type Emit = (type: string, members: string) => void;

/** The output of a response while it is written: emits the event that opens an item and the one that completes it. */
export function createOutputList(emit: Emit) {
  const items: Fields[] = [];

  return {
    items: items as readonly Fields[],
    /** Returns the item's index. */
    add(item: Fields): number {
      const index = items.push(item) - 1;
      emit('response.output_item.added', members({ output_index: index, item }));
      return index;
    },
    done(index: number, item: Fields): void {
      items[index] = item;
      emit('response.output_item.done', members({ output_index: index, item }));
    },
  };
}

export type OutputList = ReturnType<typeof createOutputList>;

/** A payload's members as JSON text, without the braces. */
export function members(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}
