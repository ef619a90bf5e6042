/** Characters that are compared at once, and the bits of each: 28 bits, before the 24 of a number. */
const comparedCharacters = 4;
const largestCode = 127;
const numbers = 2 ** 24;
/** So few are compared one by one. */
const few = 16;

/**
 * The numbers of different texts in the order of their UTF-16 units, at most 2²⁴: a comparison function would be called
 * twenty times for each of a million.
 */
export function sortTexts(texts: readonly string[]): Uint32Array {
  const sorted = new Uint32Array(texts.length).map((_, number) => number);
  sortRange(texts, sorted);
  return sorted;
}

function sortRange(texts: readonly string[], range: Uint32Array): void {
  const from = range.length > few ? sharedLength(texts, range) : 0;
  const keys = Float64Array.from(range, (number) => keyOf(texts[number] as string, from) * numbers + number);
  keys.sort();
  for (let start = 0; start < keys.length; ) {
    const key = Math.floor((keys[start] as number) / numbers);
    let end = start;
    for (; end < keys.length && Math.floor((keys[end] as number) / numbers) === key; end += 1)
      range[end] = (keys[end] as number) % numbers;
    const same = range.subarray(start, end);
    // What nothing is known of but that it is the same gets no further.
    if (same.length > few && same.length < range.length) sortRange(texts, same);
    else if (same.length > 1)
      same.sort((one, other) => ((texts[one] as string) < (texts[other] as string) ? -1 : 1));
    start = end;
  }
}

/** In the order of the texts, as far as it goes: up to a character that is not of ASCII. */
function keyOf(text: string, from: number): number {
  let key = 0;
  let length = text.length;
  for (let at = from; at < from + comparedCharacters; at += 1) {
    const code = at < length ? Math.min(text.charCodeAt(at) + 1, largestCode) : 0;
    if (code === largestCode) length = at;
    key = key * (largestCode + 1) + code;
  }
  return key;
}

/** How many characters all texts begin with. */
function sharedLength(texts: readonly string[], range: Uint32Array): number {
  const first = texts[range[0] as number] as string;
  let length = first.length;
  for (const number of range) {
    const text = texts[number] as string;
    let at = 0;
    while (at < length && text.charCodeAt(at) === first.charCodeAt(at)) at += 1;
    length = at;
  }
  return length;
}
