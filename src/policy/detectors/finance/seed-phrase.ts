import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { memoize } from '../../../lib/memoize.ts';
import { type Detector, type Finding, joinOverlapping, type Range } from '../detector.ts';

const lengths = [24, 21, 18, 15, 12] as const;
const minWords = 12;
/** Most checksums computed for one text; a body made of such words would need a hundred thousand. */
const maxChecks = 4000;
const word = /[a-z]{3,8}/gi;
/** What may separate two words: spaces, commas, line breaks, list numbers. */
const between = /^(?:[\s,;"'|]{1,6}|\s{0,3},?\s{0,3}(?:\\n)?\d{1,2}[.):]?\s{0,2})$/;

/** A word of the list, in a text. */
interface SeedWord extends Range {
  /** Its index in the list, which is its value: eleven bits. */
  readonly number: number;
}

/**
 * Seed phrases of wallets: twelve to twenty-four words of the BIP-39 list, with a valid checksum. If there are more
 * candidates than can be checked, the rest count as seeds unchecked.
 */
export const seedPhrase: Detector = {
  // As a regex, twelve short words in a row would multiply the automaton's states by a hundred.
  prefilter: {
    kind: 'regexes',
    regexes: [
      '(?:seed|recovery|backup|secret) ?(?:phrase|words)|mnemonic|bip-?39|metamask|ledger|trezor|wallet',
      '\\A[ "\'`]?[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11}',
    ],
  },
  reach: 300,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    let checks = maxChecks;
    for (const run of runsOf(text)) {
      if (run.length < minWords || isSorted(run)) continue;
      for (let at = 0; at + minWords <= run.length; at += 1) {
        const length = lengths.find((each) => {
          if (at + each > run.length) return false;
          checks -= 1;
          return checks < 0 || isPhrase(run.slice(at, at + each));
        });
        const first = run[at];
        const last = run[at + (length ?? 0) - 1];
        if (length === undefined || first === undefined || last === undefined) continue;
        const range = { start: first.start, end: last.end };
        if (checks >= 0) findings.push({ ...range, confidence: 'certain', why: 'BIP-39 checksum' });
        else findings.push({ ...range, why: 'BIP-39 words, unchecked' });
      }
    }
    return joinOverlapping(findings);
  },
};

/** Created when a text first needs it: the list is a file of its own, which few gateways load. */
const numbersOf = memoize(() => new Map(wordlist.map((each, at) => [each, at])));

/** Consecutive words of the list. */
function* runsOf(text: string): Generator<readonly SeedWord[]> {
  const numbers = numbersOf('english');
  let run: SeedWord[] = [];
  for (const { index: start, 0: found } of text.matchAll(word)) {
    const number = numbers.get(found.toLowerCase());
    const last = run.at(-1);
    const continues =
      last !== undefined && start - last.end < 12 && between.test(text.slice(last.end, start));
    if (run.length > 0 && (number === undefined || !continues)) {
      yield run;
      run = [];
    }
    if (number !== undefined) run.push({ start, end: start + found.length, number });
  }
  yield run;
}

/** The list itself, or a part of it. */
function isSorted(run: readonly SeedWord[]): boolean {
  return run.every(({ number }, at) => at === 0 || number > (run[at - 1] as SeedWord).number);
}

/** Whether the last bits are the first ones of the hash of all others. */
function isPhrase(words: readonly SeedWord[]): boolean {
  // Repeated words are an example.
  if (new Set(words.map(({ number }) => number)).size < words.length / 2) return false;
  const bits = words.map(({ number }) => number.toString(2).padStart(11, '0')).join('');
  const checkBits = words.length / 3;
  const bytes = (bits.slice(0, -checkBits).match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2));
  const [hash = 0] = createHash('sha256').update(Uint8Array.from(bytes)).digest();
  return hash.toString(2).padStart(8, '0').startsWith(bits.slice(-checkBits));
}
