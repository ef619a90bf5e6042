import { unseenNames } from './unseen.ts';

/** What the walk has to know of a member by its key. */
export const keyKinds = {
  /** Nothing. */
  other: 0,
  /** Text that a reader takes together with what stands before and after it. */
  prose: 1,
  /** A name or label of the format: no part of anybody's sentence. */
  label: 2,
  /** A sign that the object carries bytes, or leads to them. */
  bytes: 3,
  /** A sign that the member's value stands for content that is kept or encrypted elsewhere. */
  reference: 4,
} as const;
export type KeyKind = (typeof keyKinds)[keyof typeof keyKinds];

const names: Readonly<Record<string, KeyKind>> = {
  text: keyKinds.prose,
  content: keyKinds.prose,
  input: keyKinds.prose,
  output: keyKinds.prose,
  thinking: keyKinds.prose,
  system: keyKinds.prose,
  instructions: keyKinds.prose,
  prompt: keyKinds.prose,
  refusal: keyKinds.prose,
  summary: keyKinds.prose,
  reasoning: keyKinds.prose,
  reasoning_content: keyKinds.prose,
  type: keyKinds.label,
  role: keyKinds.label,
  id: keyKinds.label,
  name: keyKinds.label,
  status: keyKinds.label,
  call_id: keyKinds.label,
  tool_use_id: keyKinds.label,
  tool_call_id: keyKinds.label,
  signature: keyKinds.label,
  media_type: keyKinds.bytes,
  mime_type: keyKinds.bytes,
  data: keyKinds.bytes,
  url: keyKinds.bytes,
  phase: keyKinds.label,
  detail: keyKinds.label,
  ttl: keyKinds.label,
  file_data: keyKinds.reference,
  ...Object.fromEntries(unseenNames.map((name) => [name, keyKinds.reference])),
};
const urlEnding = Buffer.from('_url');

interface Entry {
  readonly bytes: Buffer;
  readonly kind: KeyKind;
}

/** Tells what kind of key stands at a place of the bytes, without decoding it. */
export type KeyReader = (bytes: Uint8Array, start: number, end: number) => KeyKind;

export function createKeyReader(): KeyReader {
  const byLength: Entry[][] = [];
  for (const [name, kind] of Object.entries(names)) {
    let sameLength = byLength[name.length];
    if (sameLength === undefined) {
      sameLength = [];
      byLength[name.length] = sameLength;
    }
    sameLength.push({ bytes: Buffer.from(name), kind });
  }
  return (bytes, start, end) => {
    const candidates = byLength[end - start];
    if (candidates !== undefined) {
      for (const candidate of candidates) {
        if (startsWith(bytes, start, candidate.bytes)) return candidate.kind;
      }
    }
    const isUrl = end - start >= urlEnding.length && startsWith(bytes, end - urlEnding.length, urlEnding);
    return isUrl ? keyKinds.reference : keyKinds.other;
  };
}

function startsWith(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let at = 0; at < name.length; at += 1) if (bytes[start + at] !== name[at]) return false;
  return true;
}
