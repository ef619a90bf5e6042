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
const largestBufferBytes = 256 * 2 ** 20;

/** Bytes of `16KiB`, `32MiB` or `10MB`; undefined if the text is not a size. */
export function parseMemorySize(text: string): number | undefined {
  const [, amount, unit] = sizePattern.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Math.round(Number(amount) * unitBytes[unit as keyof typeof unitBytes]); // the pattern admits no other
}

/** The same; undefined also if it is more than one Buffer should hold. */
export function parseSize(text: string): number | undefined {
  const bytes = parseMemorySize(text);
  return bytes !== undefined && bytes <= largestBufferBytes ? bytes : undefined;
}
