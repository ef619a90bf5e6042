import type { Growth } from './grow.ts';

/**
 * Ways in which a recorded stream grows: each of its events, and each few that follow one another, again and again, of
 * blocks and calls of their own each time.
 */
export function growthsOfStream(stream: Buffer): readonly Growth[] {
  const ending = stream.includes('\r\n') ? '\r\n\r\n' : '\n\n';
  const events = stream.toString().split(ending).slice(0, -1);
  const windows = events.flatMap((_, from) =>
    [1, 2, 4].flatMap((length) => (from + length < events.length ? [{ from, length }] : [])),
  );
  return windows.flatMap(({ from, length }) =>
    [withinAnswer, everywhere].map((indexes) => {
      const repeated = events.slice(from, from + length);
      const at = (count: number) => {
        const grown = Array.from({ length: count }, (_, turn) =>
          repeated.map((event) => renumber(event, indexes, turn * (length + 1))),
        );
        return `${[...events.slice(0, from), ...grown.flat(), ...events.slice(from + length)].join(ending)}${ending}`;
      };
      const unit = Buffer.byteLength(at(2)) - Buffer.byteLength(at(1));
      return {
        name: `events ${from} to ${from + length - 1}${indexes === everywhere ? ', of other choices' : ''}`,
        make: (bytes: number) => at(Math.max(2, Math.round(bytes / unit))),
      };
    }),
  );
}

const everywhere = /("(?:\w+_)?index": ?)(\d+)/g;
/** The same without those of the choices of an answer. */
const withinAnswer = /("(?:\w+_)?index": ?(?<!"(?:choices|candidates)": ?\[\{"index": ?))(\d+)/g;

/** The same event of other blocks: each repetition has indexes and ids of its own. */
function renumber(event: string, indexes: RegExp, by: number): string {
  return event
    .replace(indexes, (_, key, index) => `${key}${Number(index) + by}`)
    .replace(/("(?:\w+_)?id": ?")(\w+)"/g, (_, key, id) => `${key}${id}_${by}"`);
}
