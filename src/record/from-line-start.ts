const lineEnd = 0x0a;

/**
 * What is left of a text of which only the first bytes were written. A line that was cut is there again, whole
 * and on a line of its own, because another process may have appended behind the cut.
 */
export function fromLineStart(text: Buffer<ArrayBuffer>, written: number): Buffer<ArrayBuffer> {
  const isWhole = written === 0 || written === text.length || text[written - 1] === lineEnd;
  if (isWhole) return text.subarray(written);
  return Buffer.concat([Buffer.of(lineEnd), text.subarray(text.lastIndexOf(lineEnd, written - 1) + 1)]);
}
