/** Whether any cards begin with these four digits. */
export function hasCards(prefix: number): boolean {
  return (lengthsByPrefix[prefix] as number) !== 0;
}

/** Whether cards that begin with these four digits can have this many digits, printed in groups or in one piece. */
export function isIssued(prefix: number, card: { digits: number; gaps: readonly number[] }): boolean {
  const lengths = lengthsByPrefix[prefix] as number;
  return (
    (lengths & lengthBit(card.digits)) !== 0 ||
    (card.gaps.length > 0 && (lengths & groupedBit(card.digits)) !== 0)
  );
}

interface Issuer {
  readonly name: string;
  /** First four digits: one number, or the first and the last of a range. */
  readonly prefixes: string;
  readonly lengths: readonly number[];
  /** Lengths that count only in printed groups, because other numbers in one piece begin with the same digits. */
  readonly grouped?: readonly number[];
}

/** First four digits of the issuers in use, as the networks publish them. */
const issuers: readonly Issuer[] = [
  // Timestamps in microseconds begin with a one, too.
  { name: 'UATP', prefixes: '1000-1999', lengths: [], grouped: [15] },
  { name: 'Mir', prefixes: '2200-2204', lengths: [16, 19], grouped: [17, 18] },
  { name: 'Mastercard', prefixes: '2221-2720 5100-5599', lengths: [16] },
  { name: 'Diners Club', prefixes: '3000-3059 3095 3600-3699 3800-3999', lengths: [14] },
  { name: 'American Express', prefixes: '3400-3499 3700-3799', lengths: [15] },
  { name: 'JCB', prefixes: '3528-3589', lengths: [16, 19] },
  { name: 'Visa', prefixes: '4000-4999', lengths: [16, 19] },
  {
    name: 'Maestro',
    prefixes: '5018 5020 5038 5893 6304 6759-6763',
    lengths: [16, 19],
    grouped: [12, 13, 15, 17, 18],
  },
  { name: 'Dankort', prefixes: '5019', lengths: [16] },
  { name: 'Elo', prefixes: '5041 5066-5067 5090-5099 6362-6363', lengths: [16] },
  { name: 'Verve', prefixes: '5060-5061 5078-5079', lengths: [16, 18, 19] },
  { name: 'RuPay', prefixes: '5082 5085-5089 6069-6074 6080-6085 8172-8198', lengths: [16] },
  { name: 'Discover', prefixes: '6011 6440-6599', lengths: [16, 19] },
  { name: 'Hipercard', prefixes: '3841', lengths: [19] },
  { name: 'Hipercard', prefixes: '6062', lengths: [16, 19] },
  // Eighteen digits in one piece are also Chinese identity numbers and time-based identifiers.
  { name: 'UnionPay', prefixes: '6200-6299', lengths: [16, 19], grouped: [17, 18] },
  { name: 'UnionPay', prefixes: '8100-8171', lengths: [16, 19] },
  { name: 'Troy', prefixes: '9792', lengths: [16] },
];

/** Card lengths by the number's first four digits, as bits. */
const lengthsByPrefix = new Uint32Array(10_000);
for (const { prefixes, lengths, grouped = [] } of issuers) {
  const bits = [...lengths.map(lengthBit), ...grouped.map(groupedBit)].reduce((all, bit) => all | bit, 0);
  for (const range of prefixes.split(' ')) {
    const [from = 0, to = from] = range.split('-').map(Number);
    for (let prefix = from; prefix <= to; prefix += 1)
      lengthsByPrefix[prefix] = (lengthsByPrefix[prefix] as number) | bits;
  }
}

function lengthBit(digits: number): number {
  return 1 << digits;
}

/** Cards have at least twelve digits, so the lower bits are unused. */
function groupedBit(digits: number): number {
  return 1 << (digits - 12);
}
