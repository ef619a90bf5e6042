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

interface IssuerRange {
  readonly from: number;
  readonly to: number;
  readonly lengths: readonly number[];
  /** Lengths that count only in printed groups, because other numbers in one piece begin with the same digits. */
  readonly grouped?: readonly number[];
}

const maestro = { lengths: [16, 19], grouped: [12, 13, 15, 17, 18] };

/** First four digits of the issuers in use, as the networks publish them. */
const issuers: readonly IssuerRange[] = [
  // UATP: timestamps in microseconds begin with a one, too.
  { from: 1000, to: 1999, lengths: [], grouped: [15] },
  // Mir
  { from: 2200, to: 2204, lengths: [16, 19], grouped: [17, 18] },
  // Mastercard
  { from: 2221, to: 2720, lengths: [16] },
  { from: 5100, to: 5599, lengths: [16] },
  // Diners Club
  { from: 3000, to: 3059, lengths: [14] },
  { from: 3095, to: 3095, lengths: [14] },
  { from: 3600, to: 3699, lengths: [14] },
  { from: 3800, to: 3999, lengths: [14] },
  // American Express
  { from: 3400, to: 3499, lengths: [15] },
  { from: 3700, to: 3799, lengths: [15] },
  // JCB
  { from: 3528, to: 3589, lengths: [16, 19] },
  // Visa
  { from: 4000, to: 4999, lengths: [16, 19] },
  // Maestro
  { from: 5018, to: 5018, ...maestro },
  { from: 5020, to: 5020, ...maestro },
  { from: 5038, to: 5038, ...maestro },
  { from: 5893, to: 5893, ...maestro },
  { from: 6304, to: 6304, ...maestro },
  { from: 6759, to: 6763, ...maestro },
  // Dankort
  { from: 5019, to: 5019, lengths: [16] },
  // Elo
  { from: 5041, to: 5041, lengths: [16] },
  { from: 5066, to: 5067, lengths: [16] },
  { from: 5090, to: 5099, lengths: [16] },
  { from: 6362, to: 6363, lengths: [16] },
  // Verve
  { from: 5060, to: 5061, lengths: [16, 18, 19] },
  { from: 5078, to: 5079, lengths: [16, 18, 19] },
  // RuPay
  { from: 5082, to: 5082, lengths: [16] },
  { from: 5085, to: 5089, lengths: [16] },
  { from: 6069, to: 6074, lengths: [16] },
  { from: 6080, to: 6085, lengths: [16] },
  { from: 8172, to: 8198, lengths: [16] },
  // Discover
  { from: 6011, to: 6011, lengths: [16, 19] },
  { from: 6440, to: 6599, lengths: [16, 19] },
  // Hipercard
  { from: 3841, to: 3841, lengths: [19] },
  { from: 6062, to: 6062, lengths: [16, 19] },
  // UnionPay: eighteen digits in one piece are also Chinese identity numbers and time-based identifiers.
  { from: 6200, to: 6299, lengths: [16, 19], grouped: [17, 18] },
  { from: 8100, to: 8171, lengths: [16, 19] },
  // Troy
  { from: 9792, to: 9792, lengths: [16] },
];

/** Card lengths by the number's first four digits, as bits. */
const lengthsByPrefix = new Uint32Array(10_000);
for (const { from, to, lengths, grouped = [] } of issuers) {
  const bits = [...lengths.map(lengthBit), ...grouped.map(groupedBit)].reduce((all, bit) => all | bit, 0);
  for (let prefix = from; prefix <= to; prefix += 1) {
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
