const secretName = /auth|key|token|secret|cookie|password|credential/i;
const shownCharacters = 4;
const leastLength = 12;

/** A header's value as it may be shown: of a secret only its beginning, by which its owner can recognize it. */
export function maskHeader(
  name: string,
  value: string,
  scrub: (text: string) => string,
): { readonly value: string; readonly masked: boolean } {
  if (!secretName.test(name) && scrub(value) === value) return { value, masked: false };
  const [, scheme = '', credentials = value] = /^([A-Za-z]{1,12} +)(\S.*)$/.exec(value) ?? [];
  const shown = credentials.length < leastLength ? '' : credentials.slice(0, shownCharacters);
  return { value: `${scheme}${shown}…`, masked: true };
}

const longestExcerpt = 160;
const dot = '•';

/** The shape of a text instead of the text: the first letter or digit of each word, then a dot for each further one. */
export function maskText(text: string): string {
  const part = text.slice(0, longestExcerpt);
  const masked = part.replace(
    /([\p{L}\p{N}])([\p{L}\p{N}\p{M}]*)/gu,
    (_, first: string, rest: string) => first + dot.repeat([...rest].length),
  );
  return text.length > longestExcerpt ? `${masked}…` : masked;
}
