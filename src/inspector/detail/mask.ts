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

const dot = '•';

/**
 * The shape of a text and not the text: of each word the first letter or digit, and dots for the rest. As long as the
 * text in UTF-16 code units, so that offsets stay right.
 */
export function maskText(text: string): string {
  return text.replace(
    /([\p{L}\p{N}])([\p{L}\p{N}\p{M}]*)/gu,
    (_, first: string, rest: string) => first + dot.repeat(rest.length),
  );
}
