import { drawHarmless } from './harmless.ts';
import { decimal, type Random } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant, type Sample } from './sample.ts';

export function labelCreditCards(): LabelledClass {
  return {
    positives: plant(
      1001,
      700,
      [visa, mastercard, amex, diners, unionpay, discover, jcb, visa19, maestro, uatp, national],
      [...carriers, ...own],
    ),
    negatives: [...drawHarmless(1002, 1400), ...drawDistinct(1003, 1000, nearMisses), ...lookalikes],
  };
}

const own: readonly string[] = listed(`
  card: {} exp 12/27 cvv #d3 | {} 12/27 #d3 | My Visa is {}, please book the flight.
  Kreditkarte {} gültig bis 08/29 | carte bancaire : {} | カード番号は{}です | 卡号{}，有效期12/28
  {"pan":"{}","exp_month":12} | INSERT INTO cards VALUES (#n, "{}", 2027);
  charged {} twice on 2025-01-#n for 49.99 | cc={}&exp=1227&amount=4999 | +  card = "{}"
`);

/** The check digit, written from the definition: every second digit from the right is doubled. */
export function withCheckDigit(body: string): string {
  const sum = [...body].toReversed().reduce((total, digit, place) => {
    const doubled = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return body + String((10 - (sum % 10)) % 10);
}

function card(random: Random, prefix: string, length: number): string {
  return withCheckDigit(prefix + random.digits(length - prefix.length - 1));
}

function grouped(random: Random, number: string, sizes: readonly number[]): string {
  const separator = random.pick(['', '', ' ', ' ', '-', '.', '\u00a0']);
  const starts = sizes.map((_, index) => sizes.slice(0, index).reduce((sum, size) => sum + size, 0));
  const groups = sizes.map((size, index) => number.slice(starts[index], (starts[index] ?? 0) + size));
  return groups.filter((group) => group !== '').join(separator);
}

const fours = [4, 4, 4, 4];
const visa = (random: Random) => grouped(random, card(random, '4', 16), fours);
const mastercard = (random: Random) =>
  grouped(
    random,
    card(random, random.chance(70) ? `5${random.number(1, 5)}` : `2${random.number(300, 699)}`, 16),
    fours,
  );
const amex = (random: Random) => grouped(random, card(random, random.pick(['34', '37']), 15), [4, 6, 5]);
const diners = (random: Random) =>
  grouped(random, card(random, random.pick(['300', '305', '36', '38']), 14), [4, 6, 4]);
const unionpay = (random: Random) =>
  grouped(random, card(random, '62', random.pick([16, 19])), [4, 4, 4, 4, 3]);
const discover = (random: Random) =>
  grouped(random, card(random, random.pick(['6011', '644', '65']), 16), fours);
const jcb = (random: Random) => grouped(random, card(random, `35${random.number(28, 89)}`, 16), fours);
const visa19 = (random: Random) => grouped(random, card(random, '4', 19), [4, 4, 4, 4, 3]);

/** In one piece numbers of these lengths are no cards. */
const inGroups = (random: Random, number: string, sizes: readonly number[]) => {
  let printed = number;
  while (printed === number) printed = grouped(random, number, sizes);
  return printed;
};
const maestro = (random: Random) => {
  const sizes = random.pick([[4, 4, 4], [4, 4, 5], [4, 6, 5], fours]);
  const length = sizes.reduce((sum, size) => sum + size, 0);
  return inGroups(random, card(random, random.pick(['5018', '5893', '6304', '6762']), length), sizes);
};
const uatp = (random: Random) => inGroups(random, card(random, '1', 15), [4, 5, 6]);
/** Mir, Dankort, Troy, Verve, RuPay, Elo, Hipercard. */
const national = (random: Random) =>
  grouped(
    random,
    card(random, random.pick(['2202', '5019', '9792', '506099', '508501', '636368', '606282']), 16),
    fours,
  );

function withWrongCheckDigit(number: string): string {
  const last = (Number(number.at(-1)) + 1 + (Number(number.at(-2)) % 8)) % 10;
  const wrong = number.slice(0, -1) + String(last);
  return wrong === number ? number.slice(0, -1) + String((last + 1) % 10) : wrong;
}

const nearMisses: readonly ((random: Random) => string)[] = [
  (random) => `card ${withWrongCheckDigit(card(random, '4', 16))}`,
  (random) => `card ${grouped(random, withWrongCheckDigit(card(random, '53', 16)), fours)}`,
  (random) => `pan ${grouped(random, withWrongCheckDigit(card(random, '37', 15)), [4, 6, 5])}`,
  // Right check digits, wrong lengths: validator itself accepts some of these.
  (random) => card(random, '4', random.pick([12, 17, 18, 20])),
  (random) => card(random, '51', random.pick([13, 15, 17, 18, 20])),
  // Device and SIM numbers have the same check digit.
  (random) => `IMEI ${withCheckDigit(`35${random.digits(12)}`)}`,
  (random) => `ICCID ${withCheckDigit(`89${random.digits(17)}`)}`,
  (random) => `order ${random.text(1, '1789')}${random.digits(15)} shipped`,
  // Numbers of the right length drawn at random, in which cards are bound to turn up now and then.
  (random) => `tracking ${random.digits(16)}`,
  (random) => `{"fbid":"1000${random.digits(12)}","snowflake":"1${random.digits(18)}"}`,
  (random) => `0.${card(random, '4', 16)}`,
  (random) => `${random.hex(7)}a${card(random, '4', 16)}f${random.hex(3)}`,
  (random) => `${random.hex(7)}f-${card(random, '4', 16).replace(/(\d{4})(?=\d)/g, '$1-')}`,
  (random) => `id_${card(random, '55', 16)}`,
  (random) => Array.from({ length: 24 }, () => random.digits(4)).join(' '),
  (random) => Array.from({ length: 40 }, () => random.text(4, decimal)).join('-'),
  (random) =>
    `${card(random, '4', 16).slice(0, 4)} ${random.digits(5)} ${random.digits(4)} ${random.digits(3)}`,
  (random) => `${random.digits(4)}-${random.digits(4)} ${random.digits(4)}-${random.digits(4)}`,
  (random) => `**** **** **** ${random.digits(4)}`,
  (random) => `17${random.digits(14)} us, 17${random.digits(17)} ns`,
  (random) =>
    `${random.hex(8)}-${random.digits(4)}-${random.digits(4)}-${random.digits(4)}-${random.digits(12)}`,
  (random) =>
    `${random.digits(8)}-${random.digits(4)}-${random.digits(4)}-${random.digits(4)}-${random.digits(12)}`,
];

const lookalikes: readonly Sample[] = listed(`
  9007199254740991 | 4611686018427387904 | 4503599627370496 | 6364136223846793005 | 5000000000000000
  4000000000000000 | 9223372036854775807 | 18446744073709551615 | 2147483647 4294967295 65535
  3141592653589793
`).map((text) => ({ text: `const limit = ${text}n;` }));
