// Makes src/policy/look-alikes.generated.ts out of two public files of the Unicode Character Database:
//   node scripts/look-alikes.mjs UnicodeData.txt confusables.txt
// UnicodeData.txt: https://www.unicode.org/Public/15.0.0/ucd/UnicodeData.txt
// confusables.txt: https://www.unicode.org/Public/security/10.0.0/confusables.txt (or the same as a JSON object)
import { readFileSync, writeFileSync } from 'node:fs';

const [dataFile, confusablesFile] = process.argv.slice(2);
if (confusablesFile === undefined) throw new Error('usage: look-alikes.mjs UnicodeData.txt confusables.txt');

const marks = /[\p{M}\p{Cf}\p{Cc}]/gu;
const plain = (text) => text.normalize('NFKD').replace(marks, '');
const simple = (text) => plain(text).toUpperCase().toLowerCase();
const isAscii = (text) => /^[\x21-\x7e]+$/.test(text);

/** Letters that are a Latin one with a stroke, hook, frame or in another size, by their names. */
function fromNames(text) {
  const found = new Map();
  const shapes = [
    /^LATIN (?:SMALL|CAPITAL) LETTER ([A-Z]) WITH /,
    /^LATIN (?:LETTER|SMALL LETTER|CAPITAL LETTER) (?:SMALL CAPITAL|SCRIPT|DOTLESS|TURNED SMALL CAPITAL) ([A-Z])$/,
    /^(?:NEGATIVE )?(?:CIRCLED|SQUARED|PARENTHESIZED) LATIN (?:SMALL|CAPITAL) LETTER ([A-Z])$/,
    /^(?:CROSSED )?NEGATIVE SQUARED LATIN CAPITAL LETTER ([A-Z])$/,
    /^REGIONAL INDICATOR SYMBOL LETTER ([A-Z])$/,
  ];
  for (const line of text.split('\n')) {
    const [code, name] = line.split(';');
    for (const shape of shapes) {
      const letter = shape.exec(name ?? '')?.[1];
      if (letter !== undefined && !name.includes('TURNED'))
        found.set(Number.parseInt(code, 16), letter.toLowerCase());
    }
  }
  return found;
}

function fromConfusables(text) {
  if (text.startsWith('{')) return Object.entries(JSON.parse(text));
  return text
    .split('\n')
    .filter((line) => /^[0-9A-F]/.test(line))
    .map((line) =>
      line.split(';').map((codes) =>
        String.fromCodePoint(
          ...codes
            .trim()
            .split(/\s+/)
            .map((code) => Number.parseInt(code, 16)),
        ),
      ),
    );
}

const table = fromNames(readFileSync(dataFile, 'utf8'));
for (const [from, to] of fromConfusables(readFileSync(confusablesFile, 'utf8'))) {
  // The table's prototype of the capital I is a small l.
  const target = /^\p{Lu}$/u.test(from) && plain(to) === 'l' ? 'i' : simple(to);
  // Case is kept: a Greek capital Nu looks like N, a small one like v.
  const source = from.replace(marks, '');
  if ([...source].length !== 1 || isAscii(source) || !isAscii(target) || target.length > 4) continue;
  const code = source.codePointAt(0);
  if (!table.has(code)) table.set(code, target);
}
// Zero and the letter o, one and the letter l look alike too; ASCII stays as it is, and digits of other
// scripts fold by value, so neither is in the table.
const entries = [...table]
  .filter(([code]) => {
    const letter = String.fromCodePoint(code);
    if (/\p{Nd}/u.test(letter)) return false;
    // Compatibility forms need a place only where they look like something else than what they stand for.
    return plain(letter) === letter || (isAscii(simple(letter)) === false && [...plain(letter)].length === 1);
  })
  .sort(([one], [other]) => one - other);

let previous = 0;
const encoded = entries.map(([code, to]) => {
  const step = code - previous;
  previous = code;
  return `${step.toString(36)} ${to}`;
});
const lines = [];
for (let at = 0; at < encoded.length; at += 16)
  lines.push(`  ${JSON.stringify(encoded.slice(at, at + 16).join(' '))},`);
writeFileSync(
  new URL('../src/policy/search/look-alikes.generated.ts', import.meta.url),
  `// Made by scripts/look-alikes.mjs from UnicodeData.txt 15.0.0 and confusables.txt 10.0.0; don't edit.
// ${entries.length} characters: the distance from the one before (base 36), then what it looks like.
export const lookAlikes: readonly string[] = [
${lines.join('\n')}
];
`,
);
console.log(`${entries.length} look-alikes`);
