/** The digits of a text as numbers. */
export function digitsOf(text: string): readonly number[] {
  return Array.from(text.replace(/\D/g, ''), Number);
}

/** Each digit times its weight. */
export function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * (digits[at] ?? 0), 0);
}

/** ISO/IEC 7812-1, annex B: the last digit checks the others. */
export function hasLuhnDigit(digits: readonly number[]): boolean {
  const sum = digits.toReversed().reduce((total, digit, at) => {
    if (at % 2 === 0) return total + digit;
    return total + digit * 2 - (digit > 4 ? 9 : 0);
  }, 0);
  return digits.length > 1 && sum % 10 === 0;
}

const verhoeffProducts = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];
const verhoeffPermutations = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
];

/** Verhoeff's check, which detects every single wrong digit and every swap of neighbours. */
export function hasVerhoeffDigit(digits: readonly number[]): boolean {
  let check = 0;
  for (const [at, digit] of digits.toReversed().entries()) {
    const permuted = Number(verhoeffPermutations[at % 8]?.charAt(digit));
    check = Number(verhoeffProducts[check]?.charAt(permuted));
  }
  return check === 0;
}

/** ISO/IEC 7064, MOD 11,10. */
export function hasMod1110Digit(digits: readonly number[]): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (digit + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digits.at(-1);
}

/** Weights 7, 3, 1, repeating; letters count from ten, fillers as zero (ICAO 9303). */
export function travelDigit(text: string): number {
  const weights = [7, 3, 1] as const;
  const value = (character: string) =>
    character === '<' ? 0 : /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 55;
  return Array.from(text).reduce((sum, each, at) => sum + value(each) * (weights[at % 3] ?? 0), 0) % 10;
}

/** Whether a number repeats one digit, which passes checks but is not a real number. */
export function isOneDigit(digits: readonly number[]): boolean {
  return new Set(digits).size < 2;
}
