const stockWords =
  /example|placeholder|redacted|changeme|change|replace|insert|dummy|sample|secret|password|token|testing|test|fake|your|with|this|here|goes|key|api|app|bot|user|value|mine|xxx+|real|not|foo|bar|baz/g;

const sequences =
  'abcdefghijklmnopqrstuvwxyz 01234567890123456789 9876543210 0123456789abcdef0123456789abcdef';

/**
 * Whether the part of a key after its prefix is a placeholder (`your-key-here`, `xxxx…`, `1234567890abcdef`). Stock
 * words and sequences are removed and the rest must look random, so that a real key with a word appended is still a
 * key.
 */
export function isPlaceholder(body: string): boolean {
  const lower = body.toLowerCase();
  // One in 600 random keys of 32 hex digits has ten different ones or fewer.
  const atLeast = Math.min(/^[0-9a-f]*$/.test(lower) ? 7 : 10, body.length * 0.45);
  // Removing parts doesn't make a text less repetitive.
  if (isRepetitive(lower, atLeast)) return true;
  const rest = withoutSequences(lower).replace(stockWords, '');
  if (isRepetitive(rest, atLeast)) return true;
  return !/\d/.test(rest) && /^[a-z_-]*$/.test(body);
}

const marks =
  /example|your[-_]|x{4}|placeholder|redacted|changeme|dummy|fake|insert|replace|not[-_]?(?:a[-_]?)?real/i;

/**
 * Whether it calls itself an example, or repeats a few characters. For keys of a fixed form: no one writes `ghp_`
 * and 36 characters but for a key, so that one that only counts up is treated as a key.
 */
export function isMarkedPlaceholder(body: string): boolean {
  return isRepetitive(body.toLowerCase(), 3) || (marks.test(body) && isPlaceholder(body));
}

/** `…/K7MDENG/bPxRfiCYEXAMPLEKEY`, as vendors mark the keys in their documentation. */
export function isMarkedExample(value: string): boolean {
  return /EXAMPLE(?:KEY)?$/.test(value);
}

/** The web token with which documentation explains the format, with any signature: its subject is `1234567890`. */
export function isSampleToken(value: string): boolean {
  if (!value.startsWith('eyJ') || value.length > 800) return false;
  const payload = value.split('.', 2)[1] ?? '';
  return /"sub":\s?"1234567890"/.test(Buffer.from(payload, 'base64url').toString('latin1'));
}

const seen = new Uint8Array(128);

/** Whether a text has too few different characters to be random. */
export function isRepetitive(text: string, atLeast = 12): boolean {
  seen.fill(0);
  let count = 0;
  let others: Set<number> | undefined;
  for (let at = 0; at < text.length && count <= atLeast; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      count += 1 - (seen[code] as number);
      seen[code] = 1;
      continue;
    }
    others ??= new Set();
    if (!others.has(code)) count += 1;
    others.add(code);
  }
  return count <= atLeast;
}

const digitsForLetters: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  $: 's',
  '@': 'a',
};
/** At most four words: `password` is also two of them, so that without a limit a long value had 2ⁿ readings. */
const stockPassword =
  /^(?:super|secure|strong|very|my|the|test|admin|user|root|secret|password|passwort|pass|word|welcome|letmein|qwerty|hello|world|login|demo|dev|local|changeme|s){1,4}[\W_]{0,3}\d{0,4}[\W_]{0,3}$/;

/** `Sup3rS3cret!`, `P@ssw0rd123`: the passwords of examples. */
export function isStockPassword(value: string): boolean {
  const written = value.toLowerCase();
  const [body = '', end = ''] = [written.replace(/[\d\W_]*$/, ''), /[\d\W_]*$/.exec(written)?.[0]];
  return stockPassword.test(body.replace(/[013457$@]/g, (sign) => digitsForLetters[sign] ?? sign) + end);
}

/** Removes runs of six or more characters that only count up or down. */
function withoutSequences(text: string): string {
  let rest = '';
  let kept = 0;
  let index = 0;
  while (index < text.length) {
    const length = sequenceLength(text, index);
    if (length < 6) {
      index += 1;
      continue;
    }
    rest += text.slice(kept, index);
    index += length;
    kept = index;
  }
  return kept === 0 ? text : rest + text.slice(kept);
}

/** How many characters from here on are part of a sequence; 0 if fewer than six. */
function sequenceLength(text: string, start: number): number {
  // The first two characters nearly always decide.
  if (!follow(text.charCodeAt(start), text.charCodeAt(start + 1))) return 0;
  if (!follow(text.charCodeAt(start + 1), text.charCodeAt(start + 2))) return 0;
  let length = 6;
  if (!isSequence(text.slice(start, start + length))) return 0;
  while (start + length < text.length && isSequence(text.slice(start, start + length + 1))) length += 1;
  return length;
}

/** Whether two characters are neighbours anywhere in the sequences. */
function follow(one: number, other: number): boolean {
  const isWrapped = (one === 57 && (other === 48 || other === 97)) || (one === 102 && other === 48);
  return other === one + 1 || other === one - 1 || isWrapped;
}

function isSequence(part: string): boolean {
  return part.length >= 6 && sequences.includes(part);
}
