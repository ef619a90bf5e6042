// The form of nearly all integers.
const plain = /^[1-9]\d{0,14}$/;
const number = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The decimal digits of the integer that a JSON number stands for in any notation (`1000`, `1000.0`, `1e3`), without
 * its sign; undefined if it is not an integer, or has more digits than the limit. Unlike `Number`, it rounds nothing.
 */
export function integerDigits(text: string, limit: number): string | undefined {
  const match = number.exec(text);
  if (match === null) return undefined;
  const [, , whole = '', fraction = '', power = '0'] = match;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  const zeros = Number(power) - fraction.length + (digits.length - end);
  if (zeros < 0 || end - start + zeros > limit) return undefined;
  return digits.slice(start, end) + '0'.repeat(zeros);
}

/**
 * The safe integer that a JSON number stands for; undefined if it is not an integer, or one that no double can hold
 * exactly: 0.99999999999999999999 is not 1.
 */
export function exactInteger(text: string): number | undefined {
  if (plain.test(text)) return Number(text);
  const digits = integerDigits(text, 16);
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (!Number.isSafeInteger(value)) return undefined;
  return text.startsWith('-') && value !== 0 ? -value : value;
}
