/** ASCII words that parts of texts are compared with, in any case. */
export interface WordSet {
  has(text: string, start: number, end: number): boolean;
}

/** Makes a set that slices only those parts that have the length and the first letter of one of its words. */
export function createWordSet(words: readonly string[]): WordSet {
  const known = new Set(words);
  // First characters by length, as bits.
  const firsts = new Int32Array(Math.max(...words.map((word) => word.length)) + 1);
  for (const word of words) firsts[word.length] = (firsts[word.length] as number) | bitOf(word, 0);
  return {
    has(text, start, end) {
      const length = end - start;
      if (length >= firsts.length || ((firsts[length] as number) & bitOf(text, start)) === 0) return false;
      return known.has(text.slice(start, end).toLowerCase());
    },
  };
}

/** Lower and upper case letters have the same bit. */
function bitOf(text: string, at: number): number {
  return 1 << (text.charCodeAt(at) & 31);
}
