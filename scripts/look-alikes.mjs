// Makes src/policy/fold/look-alikes.generated.ts out of Unicode's character names and its list of confusables, as
// two packages carry them:
//   npm install --prefix /tmp/unicode @unicode/unicode-15.0.0 unhomoglyph
//   node scripts/look-alikes.mjs /tmp/unicode/node_modules
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages] = process.argv.slice(2);
if (packages === undefined) throw new Error('usage: look-alikes.mjs NODE_MODULES');
const namesFile = join(resolve(packages), '@unicode/unicode-15.0.0/Names/index.mjs');
const { default: names } = await import(pathToFileURL(namesFile).href);
const confusables = JSON.parse(readFileSync(join(packages, 'unhomoglyph/data.json'), 'utf8'));

const readingLimit = 6;
const marks = /[\p{M}\p{Cf}\p{Cc}]/gu;
const plain = (text) => text.normalize('NFKD').replace(marks, '');
const simple = (text) => plain(text).toUpperCase().toLowerCase();
const isAscii = (text) => /^[\x21-\x7e]+$/.test(text);

/** Letters that are a Latin one with a stroke, hook, frame or in another size, by their names. */
const shapes = [
  /^LATIN (?:SMALL|CAPITAL) LETTER ([A-Z]) WITH /,
  /^LATIN (?:LETTER|SMALL LETTER|CAPITAL LETTER) (?:SMALL CAPITAL|SCRIPT|DOTLESS|TURNED SMALL CAPITAL) ([A-Z])$/,
  /^(?:NEGATIVE )?(?:CIRCLED|SQUARED|PARENTHESIZED) LATIN (?:SMALL|CAPITAL) LETTER ([A-Z])$/,
  /^(?:CROSSED )?NEGATIVE SQUARED LATIN CAPITAL LETTER ([A-Z])$/,
  /^REGIONAL INDICATOR SYMBOL LETTER ([A-Z])$/,
];

function byName(code) {
  const name = names.get(code) ?? '';
  if (name.includes('TURNED') || name.includes('WITH SMALL LETTER')) return undefined;
  for (const shape of shapes) {
    const letter = shape.exec(name)?.[1];
    if (letter !== undefined) return letter.toLowerCase();
  }
  return undefined;
}

/** The prototypes of several characters of ASCII: small l for the capital I, the one and the bar, O for the zero. */
function alternatives(prototype, isCapital) {
  if (prototype === 'rn') return ['m', 'rn'];
  const forms = [prototype];
  if (prototype.includes('l')) {
    forms.push(prototype.replaceAll('l', 'i'), prototype.replaceAll('l', '1'));
    if (isCapital && prototype === 'l') forms.unshift('i');
  }
  if (/o/i.test(prototype)) forms.push(prototype.replaceAll(/o/gi, '0'));
  return forms;
}

/** A prototype in ASCII, where its letters are, or are called like one that is. */
function resolvePrototype(prototype) {
  const letters = Array.from(simple(prototype), (each) =>
    isAscii(each) ? each : (byName(each.codePointAt(0)) ?? each),
  );
  return letters.join('');
}

function ownReadings(character) {
  const found = [];
  const code = character.codePointAt(0);
  if (/\p{Nd}/u.test(character)) found.push(String(digitValue(code)));
  const compatible = simple(character);
  if (plain(character) !== character && isAscii(compatible)) found.push(compatible);
  const name = byName(code);
  if (name !== undefined) found.push(name);
  const prototype = confusables[character];
  if (prototype === undefined) return found;
  const isCapital = /^\p{Lu}$/u.test(character);
  // Only what is listed as the very letter shares its twins: a stroke or a hook tells l and I apart.
  const isPlain = !marks.test(prototype.normalize('NFKD'));
  marks.lastIndex = 0;
  const resolved = resolvePrototype(prototype);
  if (!isAscii(resolved) || resolved.length > 4) return found;
  const forms = isPlain && isAscii(prototype) ? alternatives(prototype, isCapital) : [resolved];
  return [...found, ...forms.map((form) => form.toLowerCase())];
}

/** Decimal digits stand in runs of ten from zero on, in every script. */
function digitValue(code) {
  const compatible = String.fromCodePoint(code).normalize('NFKD');
  if (/^[0-9]$/.test(compatible)) return Number(compatible);
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}

/**
 * What a character may be read as: what it looks like, then what its other case looks like. A small letter of which
 * only the capital looks like something stays itself first: a text in its own language is read as what it is.
 */
function readings(character) {
  const own = ownReadings(character);
  const others = [character.toLowerCase(), character.toUpperCase()].filter(
    (other) => other !== character && [...other].length === 1 && !isAscii(other),
  );
  const found = [...own, ...others.flatMap(ownReadings)];
  if (found.length === 0) return found;
  const firsts = [character, ...others].map(first);
  return [...new Set([firsts[0], ...own, ...firsts, ...found])].slice(0, readingLimit);
}

function first(character) {
  const own = ownReadings(character)[0] ?? ownReadings(character.toLowerCase())[0];
  if (own !== undefined) return own;
  const other = simple(character);
  return other === character || [...other].length > 1 ? other : first(other);
}

const table = new Map();
for (const code of names.keys()) {
  if (code < 0x80) continue;
  const character = String.fromCodePoint(code);
  if (/[\p{M}\p{Cf}\p{Cc}\p{Cs}\p{White_Space}]/u.test(character)) continue;
  const found = readings(character);
  if (found.length === 0) continue;
  // What Unicode's own compatibility form or digit value says already needs no place.
  const isKnown =
    found.length === 1 &&
    (/\p{Nd}/u.test(character) || (plain(character) !== character && found[0] === simple(character)));
  if (isKnown) continue;
  if (found.some((reading) => /[| ]/.test(reading))) throw new Error(`${code.toString(16)}: ${found}`);
  table.set(code, found);
}

let previous = 0;
const entries = [...table].sort(([one], [other]) => one - other);
const encoded = entries.map(([code, found]) => {
  const step = code - previous;
  previous = code;
  return `${step.toString(36)} ${found.join('|')}`;
});
const lines = [];
for (let at = 0; at < encoded.length; at += 16)
  lines.push(`  ${JSON.stringify(encoded.slice(at, at + 16).join(' '))},`);
const ambiguous = entries.filter(([, found]) => found.length > 1).length;
writeFileSync(
  new URL('../src/policy/fold/look-alikes.generated.ts', import.meta.url),
  `// Made by scripts/look-alikes.mjs from Unicode's names (15.0.0) and confusables (10.0.0); don't edit.
// ${entries.length} characters, ${ambiguous} with several readings: the distance from the one before (base 36), then what each may be read as.
export const lookAlikes: readonly string[] = [
${lines.join('\n')}
];
`,
);
console.log(`${entries.length} look-alikes, ${ambiguous} with several readings`);
