// Trigrams weigh less than words: they bring "plant" and "plants" together, not "plant" and "planet".
const partWeight = 0.3;
const partLength = 3;
const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/**
 * A vector of length 1 from the words of a text and their trigrams, each added at an index and with a sign given by its
 * hash. Texts that share words are near each other; order does not matter.
 */
export function buildVector(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    add(sums, word, 1);
    const padded = `<${word}>`;
    for (let i = 0; i + partLength <= padded.length; i += 1)
      add(sums, padded.slice(i, i + partLength), partWeight);
  }
  // Texts without words, and the rare ones whose hashes cancel each other out.
  if (sums.every((sum) => sum === 0)) add(sums, text, 1);
  const length = Math.hypot(...sums);
  return Float32Array.from(sums, (sum) => sum / length);
}

function add(sums: Float64Array, feature: string, weight: number): void {
  const hashed = hash(feature);
  // The lowest bit is the sign, the others are the index.
  const place = (hashed >>> 1) % sums.length;
  sums[place] = (sums[place] ?? 0) + (hashed & 1 ? weight : -weight);
}

/** FNV-1a over UTF-16 units, with a final mix so that all bits depend on all letters. */
function hash(feature: string): number {
  let value = fnvOffset;
  for (let i = 0; i < feature.length; i += 1) value = Math.imul(value ^ feature.charCodeAt(i), fnvPrime);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
}
