const stockWords =
  /example|placeholder|redacted|changeme|change|replace|insert|dummy|sample|secret|password|token|testing|test|fake|your|with|this|here|goes|key|api|app|bot|user|value|mine|xxx+|real|not|foo|bar|baz/g;

const sequences =
  'abcdefghijklmnopqrstuvwxyz 01234567890123456789 9876543210 0123456789abcdef0123456789abcdef';

/**
 * Whether the part of a key after its prefix is an example of one (`your-key-here`, `xxxx…`, `1234567890abcdef`). Stock words
 * and sequences are taken out and the rest must look drawn by lot, so that a real key with a word
 * added to it stays a key.
 */
export function isPlaceholder(body: string): boolean {
  const rest = withoutSequences(body.toLowerCase()).replace(stockWords, '');
  if (isRepetitive(rest, Math.min(10, body.length * 0.45))) return true;
  return !/\d/.test(rest) && /^[a-z_-]*$/.test(body);
}

/** Whether a text of some length is made of too few different characters to be random. */
export function isRepetitive(text: string, atLeast = 12): boolean {
  return new Set(text).size <= atLeast;
}

/** Drops stretches of six or more characters that only count up or down. */
function withoutSequences(text: string): string {
  let rest = '';
  let index = 0;
  while (index < text.length) {
    let length = 6;
    if (!isSequence(text.slice(index, index + length))) {
      rest += text.charAt(index);
      index += 1;
      continue;
    }
    while (index + length < text.length && isSequence(text.slice(index, index + length + 1))) length += 1;
    index += length;
  }
  return rest;
}

function isSequence(part: string): boolean {
  return part.length >= 6 && sequences.includes(part);
}
