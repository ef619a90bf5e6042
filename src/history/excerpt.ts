const before = 40;
const after = 80;

/** A piece of a text around the first place of what was looked for, on one line. */
export function excerptOf(text: string, wanted: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(wanted.toLowerCase()));
  const start = Math.max(0, at - before);
  const end = Math.min(text.length, at + wanted.length + after);
  // Without half of a character at either end.
  const piece = text
    .slice(start, end)
    .replace(/[\s\p{Cs}]+/gu, ' ')
    .trim();
  return `${start > 0 ? '…' : ''}${piece}${end < text.length ? '…' : ''}`;
}
