const rfc3339 = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2}))?$/;
const dayMs = 86_400_000;

/** The time an `expires` means, in milliseconds since 1970; a date means the end of that day in UTC. */
export function parseExpiry(text: string): number | undefined {
  const [, date, time, zone] = rfc3339.exec(text) ?? [];
  if (date === undefined) return undefined;
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  // Date.parse turns 30 February into 2 March; a key must not live longer by a slip of the pen.
  if (Number.isNaN(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== date) return undefined;
  if (time === undefined) return midnightMs + dayMs;
  const atMs = Date.parse(`${date}T${time}${zone?.toUpperCase()}`);
  return Number.isNaN(atMs) ? undefined : atMs;
}
