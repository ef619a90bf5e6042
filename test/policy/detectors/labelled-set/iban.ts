import { drawHarmless } from './harmless.ts';
import { decimal, lower, type Random, upper } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant } from './sample.ts';

export function labelIbans(): LabelledClass {
  return {
    positives: plant(
      2001,
      700,
      countries.map((country) => (random) => printed(random, iban(random, country))),
      [...carriers, ...own],
    ),
    negatives: [...drawHarmless(2002, 1400), ...drawDistinct(2003, 1000, nearMisses)],
  };
}

/** Country and the account number's form: n digits, a upper-case letters, c either. */
const countries = `
  DE n18, FR n10c11n2, GB a4n14, NL a4n10, ES n20, IT a1n10c12, CH n5c12, AT n16, BE n12, PL n24, SE n20, NO n11,
  DK n14, PT n21, IE a4n14, MT a4n5c18, SA n2c18, AE n19, TR n5c17, BR n23a1c1, CZ n20, GR n7c16, LU n3c13, FI n14,
  HU n24, RO a4c16, UA n6c19
`
  .trim()
  .split(/,\s+/);

const alphabets: Readonly<Record<string, string>> = { n: decimal, a: upper, c: decimal + upper };

function account(random: Random, form: string): string {
  return form.replace(/([nac])(\d+)/g, (_, kind, length) =>
    random.text(Number(length), alphabets[kind] ?? decimal),
  );
}

/** Check digits as the standard defines them, with whole numbers of any size. */
function checkDigits(country: string, bban: string): string {
  const numeric = [...`${bban}${country}00`].map((character) => Number.parseInt(character, 36)).join('');
  return String(98n - (BigInt(numeric) % 97n)).padStart(2, '0');
}

function iban(random: Random, name: string): string {
  const [country = '', form = ''] = name.split(' ');
  const bban = account(random, form);
  return `${country}${checkDigits(country, bban)}${bban}`;
}

function printed(random: Random, number: string): string {
  const fours = (separator: string) => number.replace(/(.{4})(?=.)/g, `$1${separator}`);
  const [spaced, tied] = [fours(' '), fours('\u00a0')];
  return random.pick([number, number, spaced, spaced, fours('-'), number.toLowerCase(), tied]);
}

const own: readonly string[] = listed(`
  IBAN: {} | IBAN {} BIC COBADEFFXXX | Bitte überweisen Sie 120,50 EUR auf {} bis Freitag.
  Virement sur le compte {} svp | rekening {} t.n.v. J. de Vries | {"iban":"{}","amount":1250}
  Pay {} for invoice #d6 now | 振込先 {} まで | Мой счёт: {}
`);

const nearMisses: readonly ((random: Random) => string)[] = [
  (random) => `IBAN ${wrong(random, iban(random, random.pick(countries)))}`,
  (random) => `IBAN ${printed(random, wrong(random, iban(random, random.pick(countries))))}`,
  // Digits in another order are the usual slip, and what check digits are for.
  (random) => swapped(iban(random, 'DE n18')),
  (random) => iban(random, 'DE n18').slice(0, -1),
  (random) => `${iban(random, 'DE n18')}7`,
  (random) => `x${iban(random, 'GB a4n14')}`,
  (random) => `${random.text(2, upper)}${random.digits(random.number(13, 26))}`,
  (random) => `DE${random.digits(9)}`,
  (random) => `VAT DE${random.digits(9)}, ATU${random.digits(8)}, FR${random.digits(11)}`,
  (random) => `tracking ${random.text(2, upper)}${random.digits(9)}${random.text(2, upper)}`,
  (random) => `${random.hex(2)}${random.digits(2)}${random.hex(36)}`,
  (random) =>
    `part ${random.text(2, upper)}${random.digits(2)}-${random.text(4, upper)}-${random.digits(4)}-${random.digits(4)}`,
  (random) =>
    `US${random.digits(10)} ISIN ${random.text(2, upper)}${random.text(9, decimal + upper)}${random.digits(1)}`,
  (random) => `${random.text(4, upper)}DE${random.text(2, upper)}XXX`,
  (random) => `id=${random.text(2, lower)}${random.digits(20)}`,
  (random) => `XX${checkDigits('XX', '1234567890')}1234567890 ZZ${random.digits(20)}`,
];

function wrong(random: Random, number: string): string {
  const place = random.number(8, number.length - 1);
  const digit = number.charAt(place);
  const other = /\d/.test(digit)
    ? String((Number(digit) + random.number(1, 9)) % 10)
    : digit === 'Q'
      ? 'R'
      : 'Q';
  return number.slice(0, place) + other + number.slice(place + 1);
}

function swapped(number: string): string {
  for (let place = 6; place < number.length - 1; place += 1) {
    const [one = '', two = ''] = number.slice(place, place + 2);
    if (one !== two) return number.slice(0, place) + two + one + number.slice(place + 2);
  }
  return '';
}
