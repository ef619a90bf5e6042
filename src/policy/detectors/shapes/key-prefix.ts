/** The part of a key before its random part. */
export interface KeyPrefix {
  readonly words: readonly string[];
  /** The rest. */
  readonly body: string;
}

/** A word in one case or capitalized, and what separates it from the next; version numbers count as words. */
const word =
  /^(?:[A-Za-z][a-z]{0,14}\d{0,3}|[A-Z]{1,15}\d{0,3}|[a-z][a-z0-9]{0,5}|[a-z]{2,9}[A-Z][a-z]{2,9}|\d[a-z]{1,8}|\d{1,3})[_.~$-]+/;
const maxWords = 5;

/** Words for keys, as vendors use them, alone or after the vendor's initials. */
const keyWords =
  /(?:^(?:sk|k|live|LIVE)|[b-df-hj-np-tv-z]sk|[kK]eys?|KEYS?|[tT]ok|TOK|[tT]kn|TKN|[tT]oken|TOKEN|[pP]ats?|PATS?|[sS]ecret|SECRET|[sS]ec|SEC)\d{0,3}$/;

/** Words that accompany them. */
const accessWords =
  /^(?:api|prod|production|sandbox|auth|oauth|oat|ort|rt|access|refresh|webhook|wh|sign|signing|service|svc|svcacct|personal|admin|private|priv|password|pass|cred|sdk|deploy|agent|bearer|sess|session)\d{0,3}$/i;

/** Keys of these kinds give little access: they are public, or for test accounts. */
const publicWords = /^(?:pk|pub|public|publishable|test|sandbox|dev|development)$/i;

/** Words for digests, bundle chunks, traces and pages; keys of this gateway have a checksum instead. */
const otherWords =
  /^(?:[a-z]*xn|diff|pull|release|releases|sha|shasum|md|blake|blake2b|hash|digest|checksum|integrity|etag|commit|rev|revision|git|tree|blob|fingerprint|nonce|chunk|bundle|css|cid|uuid|guid|trace|span|id|ids|csrf|xsrf|page|cursor|next|cache|gw|h|data|iv|tag|mac|enc|model|wbg)\d{0,3}$/i;

/** Identifiers of the dialects' objects, of payments and of requests; `at_` with a UUID by time is an item that Codex makes. */
const identifiers =
  /^(?:acct|cus|ch|pi|pm|price|seti|(?:srv)?toolu|call|msg|message|resp|req|rs|fc|fco|ctc|ctco|ws|ig|mcp|mcpr|mcpl|ci|cu|run|thread|asst|batch|item|evt|event|gen|cntr|container|vs|step|sig|conv|proj|cs_(?:test|live))_|^(?:file|ft|org|proj|corr|correlation|chatcmpl|cmpl|ftjob|call|batch|modr|gen|run|req|request|task|job|session|user|gw1)-|^at_[\da-f]{8}-[\da-f]{4}-7/;

/** Undefined if the key doesn't begin with a word. */
export function readKeyPrefix(key: string): KeyPrefix | undefined {
  const words: string[] = [];
  let body = key;
  while (words.length < maxWords) {
    const found = word.exec(body)?.[0];
    if (found === undefined) break;
    words.push(/^\w*[^\W_]/.exec(found)?.[0] ?? '');
    body = body.slice(found.length);
  }
  return words.length === 0 ? undefined : { words, body };
}

/** Whether a word stands for something that is not a key. */
export function namesNoKey(word: string): boolean {
  return otherWords.test(word);
}

/** `linux-node-<SHA-256>`: the key of a cache, the name of a build. */
export function isNamedDigest(key: string): boolean {
  return /^[A-Za-z][\w.]*(?:-[\w.]+){1,8}-(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(key);
}

/** The kind of thing that a prefix announces. */
export type PrefixMeaning = 'a key' | 'a public key' | 'access' | 'something' | 'no key';

export function subjectOf(key: string, { words }: KeyPrefix): PrefixMeaning {
  if (/^\d+[_.~$-]|^v\d+\.\d+\.\d+/.test(key) || identifiers.test(key)) return 'no key';
  if (words.some(namesNoKey)) return 'no key';
  if (words.some((each) => publicWords.test(each))) return 'a public key';
  if (words.some((each) => keyWords.test(each))) return 'a key';
  if (/^\d/.test(key)) return 'no key';
  return words.some((each) => accessWords.test(each)) ? 'access' : 'something';
}
