import {
  digitsOf,
  hasMod1110Digit,
  hasVerhoeffDigit,
  isOneDigit,
  travelDigit,
  weighted,
} from '../text/checksums.ts';
import {
  announcing,
  certain,
  createExpressionDetector,
  type ExpressionRule,
  likely,
  named,
  number,
  possible,
} from '../text/expression-detector.ts';

/**
 * A number with a checksum: certain after its name; otherwise its confidence depends on how strong its checksum and
 * format are.
 */
function checked(
  expression: RegExp,
  name: string,
  {
    isRight,
    words,
    alone,
  }: { isRight: (value: string) => boolean; words: string; alone?: typeof likely | typeof possible },
): ExpressionRule {
  const announces = announcing(words);
  return {
    expression,
    validate(value, { isAnnounced }) {
      if (isOneDigit(digitsOf(value)) || !isRight(value)) return undefined;
      if (isAnnounced(announces)) return certain(`${name}, checksum and name`);
      return alone?.(`${name}, checksum`);
    },
  };
}

const spanishLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';

function isSpanish(value: string): boolean {
  const plain = value.replace(/[^A-Z0-9]/g, '');
  const digits = plain.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return spanishLetters.charAt(Number(digits) % 23) === plain.at(-1);
}

function isFrench(value: string): boolean {
  const plain = value.replace(/\s/g, '').replace('2A', '19').replace('2B', '18');
  const month = Number(plain.slice(3, 5));
  const isMonth = (month >= 1 && month <= 12) || (month >= 20 && month <= 42) || month >= 50;
  return isMonth && 97 - Number(BigInt(plain.slice(0, 13)) % 97n) === Number(plain.slice(13));
}

/** Among the first ten digits of a German tax number one occurs two or three times, the others at most once. */
function isGermanTaxNumber(value: string): boolean {
  const digits = digitsOf(value);
  const counts = Array.from(
    { length: 10 },
    (_, digit) => digits.slice(0, 10).filter((each) => each === digit).length,
  );
  const repeated = counts.filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 9) <= 3 && hasMod1110Digit(digits);
}

const italianOdd = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function isItalian(value: string): boolean {
  const order = (character: string) =>
    /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65;
  const sum = Array.from(value.slice(0, 15)).reduce(
    (total, each, at) => total + (at % 2 === 0 ? (italianOdd[order(each)] ?? 0) : order(each)),
    0,
  );
  return String.fromCharCode(65 + (sum % 26)) === value.charAt(15);
}

function isDutch(value: string): boolean {
  const digits = digitsOf(value);
  return weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

function hasBrazilianDigits(digits: readonly number[], weights: readonly number[]): boolean {
  const first = weights.slice(1);
  const digit = (sum: number) => (sum % 11 < 2 ? 0 : 11 - (sum % 11));
  const length = digits.length;
  return (
    digit(weighted(digits, first)) === digits[length - 2] &&
    digit(weighted(digits, weights)) === digits[length - 1]
  );
}

const personWeights = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const companyWeights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

function isNhsNumber(value: string): boolean {
  const digits = digitsOf(value);
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return check % 11 === digits[9] && check !== 10;
}

const ninoNames = announcing('nino|national insurance|ni');

const rules: readonly ExpressionRule[] = [
  checked(number('(?:[XYZ][- ]?\\d{7}|\\d{8})[- ]?[A-HJ-NP-TV-Z]'), 'Spanish DNI or NIE', {
    isRight: isSpanish,
    words: 'dni|nif|nie|documento|identidad|c[ée]dula',
    alone: possible,
  }),
  checked(
    number('[12]\\s?\\d{2}\\s?\\d{2}\\s?(?:\\d{2}|2[AB])\\s?\\d{3}\\s?\\d{3}\\s?\\d{2}'),
    'French NIR',
    {
      isRight: isFrench,
      words: 'nir|insee|s[ée]curit[ée] sociale|sécu|num[ée]ro de sécu\\p{L}*',
      alone: possible,
    },
  ),
  checked(number('[1-9]\\d(?: ?\\d{3}){3}'), 'German tax number', {
    isRight: isGermanTaxNumber,
    words: 'steuer-?id\\p{L}*|steuer-?identifikationsnummer|identifikationsnummer|idnr\\.?|tin|tax id',
  }),
  checked(number('[A-Z]{6}\\d{2}[ABCDEHLMPRST]\\d{2}[A-Z]\\d{3}[A-Z]'), 'Italian codice fiscale', {
    isRight: isItalian,
    words: 'codice fiscale|c\\.?f\\.?',
    alone: likely,
  }),
  checked(number('\\d{4}[. ]?\\d{2}[. ]?\\d{3}'), 'Dutch BSN', {
    isRight: isDutch,
    words: 'bsn|burgerservicenummer|sofinummer',
  }),
  checked(number('\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}'), 'Brazilian CPF', {
    isRight: (value) => hasBrazilianDigits(digitsOf(value), personWeights),
    words: 'cpf',
    alone: likely,
  }),
  checked(number('\\d{11}'), 'Brazilian CPF', {
    isRight: (value) => hasBrazilianDigits(digitsOf(value), personWeights),
    words: 'cpf',
  }),
  checked(number('\\d{2}\\.\\d{3}\\.\\d{3}/\\d{4}-\\d{2}'), 'Brazilian CNPJ', {
    isRight: (value) => hasBrazilianDigits(digitsOf(value), companyWeights),
    words: 'cnpj',
    alone: likely,
  }),
  checked(number('[2-9]\\d{3}[ -]?\\d{4}[ -]?\\d{4}'), 'Indian Aadhaar', {
    isRight: (value) => hasVerhoeffDigit(digitsOf(value)),
    words: 'aadhaar|aadhar|uidai|uid|आधार',
  }),
  named(
    number('[A-Z]{3}[ABCFGHJLPT][A-Z]\\d{4}[A-Z]'),
    'pan|pan card|permanent account',
    likely('Indian PAN, name'),
  ),
  {
    expression: number(
      '(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)\\d{2}\\1\\d{2}\\1\\d{2}\\1[A-D]',
    ),
    validate: (value, { isAnnounced }) => {
      if (isAnnounced(ninoNames)) return likely('British NINO, name');
      return value.includes(' ') ? likely('British NINO, shape') : possible('British NINO, shape');
    },
  },
  checked(number('\\d{3}[ -]?\\d{3}[ -]?\\d{4}'), 'British NHS number', {
    isRight: isNhsNumber,
    words: 'nhs|health service',
  }),
];

/** Numbers with a check digit that identify people (in Brazil also companies): ES, FR, DE, IT, NL, BR, IN and UK. */
export const nationalId = createExpressionDetector({
  prefilter: [
    '\\b(?:[xyz][ -]?[0-9]{7}|[0-9]{8})[ -]?[a-z]\\b',
    '\\b[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[ab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}\\b',
    '[a-z]{6}[0-9]{2}[a-z][0-9]{2}[a-z][0-9]{3}[a-z]',
    '[0-9]{3}\\.[0-9]{3}\\.[0-9]{3}-[0-9]|[0-9]{3}/[0-9]{4}-[0-9]{2}',
    '\\b[a-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[a-d]\\b',
    '(?:steuer|identifikation|idnr|tin|tax id|bsn|burgerservice|sofi|cpf|aadhaa?r|uidai|आधार|nhs|health service)[^0-9]{0,24}[0-9][0-9 .-]{6}',
    '(?:pan|permanent account)[^0-9]{0,24}[a-z]{5}[0-9]{4}',
  ],
  reach: 24,
  rules,
});

const passportNames =
  'passport|reisepass|passnummer|ausweisnummer|personalausweis|passeport|pasaporte|passaporto|passaporte|paspoort|паспорт|护照|護照|パスポート';

/**
 * Whether all check digits of a machine-readable line (ICAO 9303, TD3) are valid: number, birth, expiry and the whole
 * line.
 */
function isMachineReadable(line: string): boolean {
  const isChecked = (from: number, to: number) =>
    travelDigit(line.slice(from, to)) === Number(line.charAt(to));
  const all = line.slice(0, 10) + line.slice(13, 20) + line.slice(21, 43);
  return (
    isChecked(0, 9) && isChecked(13, 19) && isChecked(21, 27) && travelDigit(all) === Number(line.charAt(43))
  );
}

/** Passports: the machine-readable lines anywhere, numbers right after a word that announces one. */
export const passport = createExpressionDetector({
  prefilter: [
    '[a-z0-9<]{9}[0-9][a-z<]{3}[0-9]{7}[mfx<][0-9]{7}',
    '(?:passport|reisepass|passnummer|ausweis|passeport|pasaporte|passapor|paspoort|пacпopт|护照|護照|ハスホート)[^0-9]{0,24}[0-9]',
  ],
  reach: 90,
  rules: [
    {
      expression:
        /(?:P[A-Z<][A-Z<]{42}\s{0,2}(?:\\n)?)?[A-Z0-9<]{9}\d[A-Z<]{3}\d{6}\d[MFX<]\d{6}\d[A-Z0-9<]{14}[\d<]\d/gi,
      validate: (value) =>
        isMachineReadable(value.slice(-44)) ? certain('passport, check digits') : undefined,
    },
    named(number('(?=[A-Z0-9]{0,4}\\d{4})[A-Z0-9]{6,10}'), passportNames, likely('passport, name')),
  ],
});
