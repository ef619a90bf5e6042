import type { Growth } from './grow.ts';

/**
 * Ways in which a recorded stream grows: each of its events, and each few that follow one another, again and again, of
 * blocks and calls of their own each time, one after the other or all open at once.
 */
export function growthsOfStream(stream: Buffer): readonly Growth[] {
  const ending = stream.includes('\r\n') ? '\r\n\r\n' : '\n\n';
  const events = stream.toString().split(ending).slice(0, -1);
  const windows = events.flatMap((_, from) =>
    [1, 2, 4].flatMap((length) => (from + length < events.length ? [{ from, length }] : [])),
  );
  return windows.flatMap(({ from, length }) =>
    (length === 1 ? [inTurn] : [inTurn, atOnce]).flatMap((arrange) =>
      [withinAnswer, everywhere].map((indexes) => {
        const repeated = events.slice(from, from + length);
        const at = (count: number) => {
          const grown = arrange(repeated, count, (event, turn) =>
            renumber(event, indexes, turn * (length + 1)),
          );
          return `${[...events.slice(0, from), ...grown, ...events.slice(from + length)].join(ending)}${ending}`;
        };
        const unit = Buffer.byteLength(at(2)) - Buffer.byteLength(at(1));
        const of = `${arrange === atOnce ? ', all at once' : ''}${indexes === everywhere ? ', of other choices' : ''}`;
        return {
          name: `events ${from} to ${from + length - 1}${of}`,
          make: (bytes: number) => at(Math.max(2, Math.round(bytes / unit))),
        };
      }),
    ),
  );
}

type Renumber = (event: string, turn: number) => string;

/** What begins ends before the next one begins. */
function inTurn(events: readonly string[], count: number, renumber: Renumber): readonly string[] {
  return turnsOf(count).flatMap((turn) => events.map((event) => renumber(event, turn)));
}

/** All begin before the first one ends. */
function atOnce(events: readonly string[], count: number, renumber: Renumber): readonly string[] {
  return events.flatMap((event) => turnsOf(count).map((turn) => renumber(event, turn)));
}

const turnsOf = (count: number) => Array.from({ length: count }, (_, turn) => turn);

const everywhere = /("(?:\w+_)?index": ?)(\d+)/g;
/** The same without those of the choices of an answer. */
const withinAnswer = /("(?:\w+_)?index": ?(?<!"(?:choices|candidates)": ?\[\{"index": ?))(\d+)/g;

/** The same event of other blocks: each repetition has indexes and ids of its own. */
function renumber(event: string, indexes: RegExp, by: number): string {
  return event
    .replace(indexes, (_, key, index) => `${key}${Number(index) + by}`)
    .replace(/("(?:\w+_)?id": ?")(\w+)"/g, (_, key, id) => `${key}${id}_${by}"`);
}
