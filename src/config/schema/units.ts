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

const unitBytes = {
  B: 1,
  kB: 1000,
  KB: 1000,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
} as const;

export const sizePattern = /^(\d{1,9}(?:\.\d{1,3})?)(B|kB|KB|MB|GB|KiB|MiB|GiB)$/;

// A body is one Buffer and is decoded into one string; V8's longest is just below 512 MiB.
const maxBufferBytes = 256 * 2 ** 20;

/** Bytes of `16KiB`, `32MiB` or `10MB`; undefined if the text is not a size. */
export function parseMemorySize(text: string): number | undefined {
  const [, amount, unit] = sizePattern.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Math.round(Number(amount) * unitBytes[unit as keyof typeof unitBytes]); // the pattern admits no other
}

/** The same; undefined also if it is more than one Buffer should hold. */
export function parseSize(text: string): number | undefined {
  const bytes = parseMemorySize(text);
  return bytes !== undefined && bytes <= maxBufferBytes ? bytes : undefined;
}
