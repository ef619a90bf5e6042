const number = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The safe integer that a JSON number stands for in any notation (`1000`, `1000.0`, `1e3`); undefined where it is no
 * integer, or one that no double can hold exactly. Unlike `Number`, it rounds nothing: 0.99999999999999999999 is not 1.
 */
export function exactInteger(text: string): number | undefined {
  const match = number.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return 0;
  const zeros = Number(power) - fraction.length + (digits.length - end);
  if (zeros < 0 || end - start + zeros > 16) return undefined;
  const value = Number(sign + digits.slice(start, end) + '0'.repeat(zeros));
  return Number.isSafeInteger(value) ? value : undefined;
}
