import { createHash } from 'node:crypto';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { withCheckDigit } from './credit-card.ts';
import { drawHarmless } from './harmless.ts';
import { lower, type Random, upper } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant, templates } from './sample.ts';

/** Kinds that a checksum or a word before them tells: check digits are computed here from their definitions. */
interface Kind {
  readonly makers: readonly ((random: Random) => string)[];
  /** Where the value stands alone. */
  readonly alone?: boolean;
  /** Where a word announces it. */
  readonly announced?: readonly string[];
  readonly nearMisses: readonly string[];
  /** What a harmless text must not hold, because it is of this kind. */
  readonly own?: RegExp;
}

function label(seed: number, { makers, alone = true, announced = [], nearMisses, own }: Kind): LabelledClass {
  const places = [...(alone ? carriers : []), ...announced];
  const harmless = drawHarmless(seed + 3, 2600).filter(({ text }) => own === undefined || !own.test(text));
  return {
    positives: plant(seed, 560, makers, places),
    negatives: [...harmless, ...drawDistinct(seed + 5, 300, templates(nearMisses))],
  };
}

const weigh = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits.charAt(at)), 0);

const routing = (random: Random) => {
  const digits = `${random.pick(['01', '02', '11', '26', '31', '62'])}${random.digits(6)}`;
  return `${digits}${(10 - (weigh(digits, [3, 7, 1, 3, 7, 1, 3, 7]) % 10)) % 10}`;
};

const spanish = (random: Random) => {
  const digits = random.digits(8);
  return `${digits}${'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(digits) % 23)}`;
};
const french = (random: Random) => {
  const digits = `${random.pick(['1', '2'])}${random.digits(2)}0${random.number(1, 9)}${random.number(10, 89)}${random.digits(6)}`;
  return `${digits}${String(97 - Number(BigInt(digits) % 97n)).padStart(2, '0')}`;
};
const cpf = (random: Random) => {
  const add = (digits: string) => {
    const weights = Array.from(digits, (_, at) => digits.length + 1 - at);
    const rest = (weigh(digits, weights) * 10) % 11;
    return `${digits}${rest === 10 ? 0 : rest}`;
  };
  const digits = add(add(random.digits(9)));
  return `${digits.slice(0, 3)}.${digits.slice(3, 6)}.${digits.slice(6, 9)}-${digits.slice(9)}`;
};
const nhs = (random: Random): string => {
  const digits = random.digits(9);
  const check = (11 - (weigh(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check === 10
    ? nhs(random)
    : `${digits.slice(0, 3)} ${digits.slice(3, 6)} ${digits.slice(6)}${check}`;
};
const bsn = (random: Random): string => {
  const digits = random.digits(8);
  const check = weigh(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
  return check === 10 ? bsn(random) : `${digits}${check}`;
};
const nino = (random: Random) =>
  `${random.pick(['AB', 'CE', 'JK', 'WM'])} ${random.digits(2)} ${random.digits(2)} ${random.digits(2)} ${random.pick(['A', 'B', 'C', 'D'])}`;

const announceIds = (words: string) => [
  `${words}: {}`,
  `"${words}": "{}"`,
  `${words} {}\n`,
  `my ${words} is {}.`,
];

function travelCheck(text: string): string {
  const value = (each: string) => (each === '<' ? 0 : Number.parseInt(each, 36));
  return String(
    Array.from(text).reduce((sum, each, at) => sum + value(each) * ([7, 3, 1][at % 3] ?? 0), 0) % 10,
  );
}

function machineReadable(random: Random): string {
  const number = `${random.text(1, upper)}${random.digits(8)}`;
  const birth = `${random.number(50, 99)}0${random.number(1, 9)}${random.number(10, 28)}`;
  const expiry = `3${random.number(0, 9)}0${random.number(1, 9)}${random.number(10, 28)}`;
  const first = `${number}${travelCheck(number)}`;
  const dates = [`${birth}${travelCheck(birth)}`, `${expiry}${travelCheck(expiry)}`];
  const rest = `${'<'.repeat(14)}0`;
  const all = `${first}${dates.join('')}${rest}`;
  return `${first}${random.pick(['UTO', 'GBR', 'FRA', 'D<<'])}${dates[0]}${random.pick(['F', 'M'])}${dates[1]}${rest}${travelCheck(all)}`;
}

function vinOf(random: Random): string {
  const letters = 'ABCDEFGHJKLMNPRSTUVWXYZ';
  const worth = (each: string) => Number('12345678123457923456789'[letters.indexOf(each)] ?? each);
  const head = `${random.pick(['1HG', '5YJ', '1FT', 'JM1', '2T1'])}${random.text(5, 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789')}`;
  const tail = `${random.pick(['K', 'L', 'M'])}${random.pick(['A', 'F', 'P'])}${random.digits(6)}`;
  const full = `${head}0${tail}`;
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
  const sum = weights.reduce((total, weight, at) => total + weight * worth(full.charAt(at)), 0);
  return `${head}${sum % 11 === 10 ? 'X' : sum % 11}${tail}`;
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function base58Check(random: Random): string {
  const body = Buffer.from(`${random.pick(['00', '05', '30'])}${random.hex(40)}`, 'hex');
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  const bytes = Buffer.concat([body, hash(hash(body)).subarray(0, 4)]);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = base58.charAt(Number(rest % 58n)) + text;
  return body[0] === 0 ? `1${text}` : text;
}

function bech32(random: Random): string {
  const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
  const data = [0, ...Array.from({ length: 32 }, () => random.number(0, 31))];
  const prefix = [3, 3, 0, 2, 3];
  const polymod = (values: readonly number[]) => {
    let check = 1;
    for (const value of values) {
      const top = check >>> 25;
      check = ((check & 0x1ffffff) << 5) ^ value;
      [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((generator, bit) => {
        if ((top >>> bit) & 1) check ^= generator;
      });
    }
    return check;
  };
  const check = polymod([...prefix, ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const tail = Array.from({ length: 6 }, (_, at) => (check >>> (5 * (5 - at))) & 31);
  return `bc1${[...data, ...tail].map((each) => alphabet.charAt(each)).join('')}`;
}

/** What draws the set of each kind. */
export const labelNumbers = {
  bank_routing: () =>
    label(8201, {
      makers: [routing],
      alone: false,
      announced: listed(`
        Routing number: {} | ABA {} | aba_routing = "{}" | "routing_number": "{}" | My routing number is {}.
      `),
      nearMisses: ['routing key #d5', 'route #d9', 'order #d9', 'account #d9', 'transit time #d3 ms'],
    }),
  coordinates: () =>
    label(8211, {
      makers: [
        (random) =>
          `${random.number(1, 89)}°${random.number(1, 59)}′${random.number(1, 59)}″N ${random.number(1, 179)}°${random.number(1, 59)}′${random.number(1, 59)}″E`,
        (random) =>
          `${random.number(1, 89)}° ${random.number(1, 59)}' S, ${random.number(1, 179)}° ${random.number(1, 59)}' W`,
      ],
      nearMisses: listed(`
        turn #n° to the left | matrix #n.5 #n.25 | temperature 21.#d3 °C | lat #n ms | lon = 3
      `),
    }),
  crypto_wallet: () =>
    label(8361, {
      makers: [base58Check, bech32],
      nearMisses: [
        `1${lower}`,
        'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx',
        '0x#h16',
        'git #h40',
        '3#h32',
        '0x0000000000000000000000000000000000000000',
      ],
    }),
  date_of_birth: () =>
    label(8221, {
      makers: [
        (random) => `${random.number(1940, 2009)}-0${random.number(1, 9)}-${random.number(10, 28)}`,
        (random) => `${random.number(10, 28)}.0${random.number(1, 9)}.${random.number(1940, 2009)}`,
        (random) =>
          `${random.number(1, 28)} ${random.pick(['March', 'June', 'October'])} ${random.number(1940, 2009)}`,
        (random) => `0${random.number(1, 9)}/${random.number(10, 28)}/${random.number(1940, 2009)}`,
      ],
      alone: false,
      announced: listed(`
        date of birth: {} | "date_of_birth": "{}" | DOB: {} | born on {} in Lyon | Geburtsdatum: {}
        geboren am {} | né le {} | fecha de nacimiento: {} | data di nascita: {} | <birthDate>{}</birthDate>
        дата рождения: {} | 生年月日：{}
      `),
      nearMisses: listed(`
        released 2024-03-#n | reborn in #n | due date: 01/02/2025 | created_at: 2023-0#n | newborn #n
      `),
    }),
  imei: () =>
    label(8231, {
      makers: [
        (random) => {
          const digits = withCheckDigit(`35${random.digits(12)}`);
          return `${digits.slice(0, 2)}-${digits.slice(2, 8)}-${digits.slice(8, 14)}-${digits.slice(14)}`;
        },
        (random) => `${withCheckDigit(`35${random.digits(12)}`)}`,
      ],
      alone: false,
      announced: ['IMEI: {}', 'imei={}', '"imei": "{}"', 'IMEI 1 {}', 'The IMEI is {}.'],
      nearMisses: ['#d15', 'serial #d15', '12-#d6-#d6-x'],
    }),
  loopback_address: () =>
    label(8241, {
      makers: [
        (random) => `127.${random.number(0, 255)}.${random.number(0, 255)}.${random.number(1, 254)}`,
        (random) => `127.${random.number(0, 9)}.${random.digits(1)}.${random.number(10, 99)}`,
      ],
      announced: ['http://{}/', 'listen {};', 'bind to {} only'],
      nearMisses: ['version 127.0', 'a::1b', 'std::1', 'fe80::1:2', '10.127.0.1', '1127.0.0.1'],
      own: /127\.0\.0\.1|::1\b|0\.0\.0\.0/,
    }),
  mac_address: () =>
    label(8251, {
      makers: [
        (random) => Array.from({ length: 6 }, () => random.hex(2)).join(':'),
        (random) =>
          Array.from({ length: 6 }, () => random.hex(2))
            .join('-')
            .toUpperCase(),
        (random) => `a${random.hex(3)}.${random.hex(4)}.${random.hex(4)}`,
      ],
      nearMisses: listed(`
        fingerprint #h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2:#h2 | time 12:34:56
        ff:ff:ff:ff:ff:ff | 00:00:00:00:00:00 | #h2:#h2:#h2:#h2 | 1.2.3 #d4.#d4.#d4
      `),
      own: /MAC /,
    }),
  national_id: () => {
    const announced = (seed: number, maker: Kind['makers'][number], words: string, nearMiss: string) =>
      label(seed, { makers: [maker], alone: false, announced: announceIds(words), nearMisses: [nearMiss] });
    const parts = [
      announced(8261, spanish, 'DNI', '#d8 items'),
      announced(8271, french, 'NIR', '#d15'),
      label(8281, { makers: [cpf, nino], nearMisses: ['#d3.#d3.#d3-x'] }),
      announced(8291, nhs, 'NHS number', '#d3 #d3 #d4'),
      announced(8301, bsn, 'BSN', '#d9'),
    ];
    return {
      positives: parts.flatMap(({ positives }) => positives.slice(0, 140)),
      negatives: parts.flatMap(({ negatives }) => negatives.slice(-500)).concat(drawHarmless(8311, 2000)),
    };
  },
  passport: () =>
    label(8321, {
      makers: [machineReadable],
      nearMisses: ['passport.js strategy #n', 'A<B<C<<<<<#d9', 'passport photo #n'],
    }),
  public_ip_address: () =>
    label(8331, {
      makers: [
        (random) =>
          `${random.pick([8, 34, 52, 91, 185, 203])}.${random.number(40, 250)}.${random.number(1, 254)}.${random.number(1, 254)}`,
        (random) => `2a01:${random.hex(4)}:${random.hex(4)}::${random.hex(4)}`,
      ],
      announced: ['client {} connected', 'ssh root@{}'],
      nearMisses: listed(`
        10.#n.2.3 | 192.168.1.#n | 172.16.0.#n:8080 | 169.254.169.254 | fe80::1:#h4 | fd00:1::#h4
      `),
      own: /addresses/,
    }),
  seed_phrase: () =>
    label(8341, {
      makers: [16, 20, 24, 28, 32].map(
        (bytes) => (random: Random) =>
          entropyToMnemonic(Uint8Array.from(Buffer.from(random.hex(bytes * 2), 'hex')), wordlist),
      ),
      alone: false,
      announced: [
        '{}',
        '"{}"',
        'My seed phrase: {}',
        'mnemonic = "{}"',
        'recovery words\n{}\n',
        '{"mnemonic":"{}"}',
        'Wallet 1\n\n{}\n\nkeep it safe',
        'restore it with {} in MetaMask',
      ],
      nearMisses: [
        'the quick brown fox jumps over the lazy dog and then they all went home again #n',
        'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
        'legal winner thank year wave sausage worth useful legal winner thank #n',
      ],
    }),
  vin: () =>
    label(8351, {
      makers: [vinOf],
      announced: ['VIN: {}', '"vin": "{}"', 'chassis number {}'],
      nearMisses: ['#h17', 'ABCDEFGHJKLMN#d4', 'build-#h12', 'X#d16'],
    }),
} as const;
