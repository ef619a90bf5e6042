/** Shorter ones would take innocent words out of messages, and no real key is so short. */
const leastLength = 8;
const mask = '[secret]';
const maskBytes = Buffer.from(mask);

/** Takes our secrets out of a provider's words before they go anywhere. */
export interface Scrubber {
  /** The text without any of them. */
  scrub(text: Buffer): Buffer;
  /** How much of a text that goes on is certain: behind it is what may be the beginning of a secret. */
  certainLength(text: Buffer): number;
}

export function createScrubber(secrets: readonly string[]): Scrubber {
  const needles = needlesOf(secrets).map((each) => Buffer.from(each));
  return {
    scrub: (text) => needles.reduce(without, text),
    certainLength: (text) => certainLength(text, needles),
  };
}

/** The same for short texts: headers, and causes of failures. */
export function createTextScrubber(secrets: readonly string[]): (text: string) => string {
  const needles = needlesOf(secrets);
  return (text) => {
    let rest = text;
    for (const needle of needles) if (rest.includes(needle)) rest = rest.replaceAll(needle, mask);
    return rest;
  };
}

function needlesOf(secrets: readonly string[]): readonly string[] {
  const spellings = new Set(secrets.filter((secret) => secret.length >= leastLength).flatMap(spell));
  // The longest first: a secret that begins with another one must not leave its rest behind.
  return [...spellings].sort((one, other) => other.length - one.length);
}

/** A secret as it is, and as JSON and URLs write it. */
function spell(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

function without(text: Buffer, needle: Buffer): Buffer {
  const kept: Buffer[] = [];
  let start = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, start)) {
    kept.push(text.subarray(start, at), maskBytes);
    start = at + needle.length;
  }
  return kept.length === 0 ? text : Buffer.concat([...kept, text.subarray(start)]);
}

function certainLength(text: Buffer, needles: readonly Buffer[]): number {
  const begun = Math.max(0, ...needles.map((needle) => begunLength(text, needle)));
  let length = text.length - begun;
  // A whole secret may reach into what may be the beginning of another: it must not be parted either.
  for (let before = -1; before !== length; ) {
    before = length;
    for (const needle of needles) {
      const at = text.indexOf(needle, Math.max(0, length - needle.length + 1));
      if (at >= 0 && at < length) length = at;
    }
  }
  return length;
}

/** How many of the text's last bytes are the first ones of a longer needle. */
function begunLength(text: Buffer, needle: Buffer): number {
  let length = Math.min(needle.length - 1, text.length);
  while (length > 0 && text.compare(needle, 0, length, text.length - length) !== 0) length -= 1;
  return length;
}
