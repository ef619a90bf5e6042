import { memoize } from '../../lib/memoize.ts';
import { digitsOf, hasLuhnDigit } from '../detectors/text/checksums.ts';

/**
 * How placeholders of one kind are written: what each begins with, letters or digits that are made of the value, and an
 * end that follows from those. No form begins with all of another's beginning, so that what a text holds is never two
 * things.
 */
export interface Form {
  /** What records count it as. */
  readonly kind: string;
  readonly head: string;
  readonly alphabet: typeof letters | typeof digits;
  /** How many letters are a keyed hash of the value. */
  readonly valueLetters: number;
  /** How many are a keyed hash of those, by which a placeholder of this installation is recognized without its value. */
  readonly checkLetters: number;
  /** The end of what begins so; absent if there is none. */
  readonly end?: (written: string) => string;
  /** What the end is made of, one character each. */
  readonly endPattern?: readonly string[];
}

/**
 * Those with which few keys and passwords begin: the automata that look for these stay in a few states. With all letters,
 * a text of 9,000 new placeholders takes twice as long to search.
 */
const letters = 'BDFHJKLMNQUVWXYZ';
const digits = '0123456789';

const tagLetters = 13;

/**
 * A word. Letters only, and no more than 13 behind the underscore: what detectors look for begins with digits or a
 * longer run, so they pass over placeholders as fast as over words. 40 bits for the value, 12 to recognize it by.
 */
export function wordForm(kind: string): Form {
  return { kind, head: `${kind}_`, alphabet: letters, valueLetters: tagLetters - 3, checkLetters: 3 };
}

const mailDomain = '@masked.invalid';

/** In a top-level domain that can't be registered (RFC 2606, section 2). */
const address: Form = {
  ...wordForm('EMAIL'),
  head: 'EMAIL-',
  end: () => mailDomain,
  endPattern: Array.from(mailDomain, literal),
};

/**
 * Numbers that begin with 9 are given by the country whose code follows (ISO/IEC 7812-1), and 900 to 999 are no country's
 * (ISO 3166-1). The third digit is that of the length.
 */
const cards = [14, 15, 16, 17, 18, 19].map(
  (length): Form => ({
    kind: 'CARD',
    head: `99${length - 10}`,
    alphabet: digits,
    valueLetters: length - 7,
    checkLetters: 3,
    end: luhnDigit,
    endPattern: ['[0-9]'],
  }),
);
const usualCard = 16;

/** XX is no country's code (ISO 3166-1); its check digits are 50, so that the last two digits make them right. */
const account: Form = {
  kind: 'IBAN',
  head: 'XX50',
  alphabet: digits,
  valueLetters: 13,
  checkLetters: 3,
  end: accountEnd,
  endPattern: ['[0-9]', '[0-9]'],
};

/** No country has the code 999, and no number has more than fifteen digits (ITU-T E.164). */
const telephone: Form = {
  kind: 'PHONE',
  head: '+999',
  alphabet: digits,
  valueLetters: 9,
  checkLetters: 3,
};

/** Every form that is no word. */
export const formShapes: readonly Form[] = [address, ...cards, account, telephone];
const shapeTests = formShapes.map((form) => ({ form, test: new RegExp(`^${patternOf(form)}$`) }));

/** The form with which a value looks like others of its kind; undefined if the kind has only words. */
export function shapeOf(kind: string, value: string): Form | undefined {
  if (kind !== 'CARD') return formShapes.find((form) => form.kind === kind);
  const { length } = digitsOf(value);
  return cards.find(({ head }) => head === `99${length - 10}`) ?? cards[usualCard - 14];
}

const knownWord = memoize(wordForm);

/** The form of a placeholder. */
export function formOf(placeholder: string): Form {
  const end = placeholder.length - tagLetters - 1;
  if (placeholder[end] === '_') return knownWord(placeholder.slice(0, end));
  return shapeTests.find(({ test }) => test.test(placeholder))?.form ?? address;
}

/** The form that begins with this. */
export function formWithHead(head: string): Form {
  return formShapes.find((shape) => shape.head === head) ?? knownWord(head.slice(0, -1));
}

/** Characters of a placeholder of this form. */
export function lengthOf({ head, valueLetters, checkLetters, endPattern = [] }: Form): number {
  return head.length + valueLetters + checkLetters + endPattern.length;
}

/** What a placeholder of the form is made of, one character each, as regular expressions. */
export function atomsOf(form: Form): readonly string[] {
  const { head, valueLetters, checkLetters, endPattern = [] } = form;
  const tag = Array.from({ length: valueLetters + checkLetters }, () =>
    hasLetters(form) ? '[A-Z]' : '[0-9]',
  );
  return [...Array.from(head, literal), ...tag, ...endPattern];
}

export function hasLetters({ alphabet }: Form): boolean {
  return alphabet === letters;
}

export function isWordForm({ kind, head }: Form): boolean {
  return head === `${kind}_`;
}

/** Matches every placeholder of the form, whoever made it. */
export function patternOf(form: Form): string {
  return atomsOf(form).join('');
}

export function literal(text: string): string {
  return text.replace(/[+.]/g, '\\$&');
}

function luhnDigit(written: string): string {
  const before = digitsOf(written);
  return [...digits].find((digit) => hasLuhnDigit([...before, Number(digit)])) ?? '';
}

/** ISO 13616: the country as 33 33 and the check digits behind the rest, and the remainder by 97 is 1. */
function accountEnd(written: string): string {
  const rest = Number(BigInt(`${written.slice('XX50'.length)}00333350`) % 97n);
  // The two digits stand before six others, and 18 times 10 to the sixth leaves 1.
  return String(((1 - rest + 97) * 18) % 97).padStart(2, '0');
}
