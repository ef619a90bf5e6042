import type { JsonDocument } from './json-document.ts';

// Up to this many keys, comparing all pairs is faster than a table.
const pairwiseKeys = 8;
/** Average number of probes per key at which the table is abandoned. */
const looksPerKey = 4;

/** The second of two equal keys of a closed object; undefined if all keys differ. */
export function duplicateKey(document: JsonDocument, object: number): number | undefined {
  const end = document.next(object);
  let keys = 0;
  let isEscaped = false;
  for (let key = object + 1; key < end; key = document.next(key + 1)) {
    keys += 1;
    isEscaped ||= document.isEscaped(key);
  }
  if (isEscaped) return duplicateInSet(document, object);
  return keys > pairwiseKeys ? duplicateInTable(document, object, keys) : duplicateInPairs(document, object);
}

/** Compares decoded keys, since escapes can write the same key in different ways. */
function duplicateInSet(document: JsonDocument, object: number): number | undefined {
  const seen = new Set<string>();
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    const text = document.isEscaped(key) ? wellFormed(document.text(key)) : document.text(key);
    if (seen.has(text)) return key;
    seen.add(text);
  }
  return undefined;
}

/** Compares raw bytes without decoding. Keys crafted to collide fall back to a set, which has no such weakness. */
function duplicateInTable(document: JsonDocument, object: number, keys: number): number | undefined {
  const mask = (1 << (33 - Math.clz32(keys))) - 1;
  const table = new Int32Array(mask + 1);
  let looksLeft = keys * looksPerKey;
  const end = document.next(object);
  for (let key = object + 1; key < end; key = document.next(key + 1)) {
    let slot = hashOf(document, key) & mask;
    for (let other = table[slot] as number; other !== 0; other = table[slot] as number) {
      if (isSameBytes(document, key, other)) return key;
      looksLeft -= 1;
      if (looksLeft === 0) return duplicateInSet(document, object);
      slot = (slot + 1) & mask;
    }
    table[slot] = key;
  }
  return undefined;
}

function hashOf(document: JsonDocument, key: number): number {
  const { bytes } = document;
  const end = document.end(key);
  let hash = 0;
  for (let at = document.start(key); at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

function duplicateInPairs(document: JsonDocument, object: number): number | undefined {
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    for (let other = object + 1; other < key; other = document.next(other + 1)) {
      if (isSameBytes(document, key, other)) return key;
    }
  }
  return undefined;
}

function isSameBytes(document: JsonDocument, one: number, other: number): boolean {
  const { bytes } = document;
  const start = document.start(one);
  const length = document.end(one) - start;
  const otherStart = document.start(other);
  if (length !== document.end(other) - otherStart) return false;
  for (let i = 0; i < length; i += 1) {
    if (bytes[start + i] !== bytes[otherStart + i]) return false;
  }
  return true;
}

/** As parsers read it whose strings can't contain lone surrogates: with U+FFFD in their place. */
function wellFormed(text: string): string {
  return surrogate.test(text) ? Buffer.from(text).toString() : text;
}

const surrogate = /[\ud800-\udfff]/;
