/** Shorter ones would take innocent words out of messages, and no real key is so short. */
const leastLength = 8;
const mask = '[secret]';
const maskBytes = Buffer.from(mask);

/** A function that takes every one of these texts out of a provider's words before they go anywhere. */
export function createScrubber(secrets: readonly string[]): (text: Buffer) => Buffer {
  const needles = needlesOf(secrets).map((each) => Buffer.from(each));
  return (text) => needles.reduce(without, text);
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
