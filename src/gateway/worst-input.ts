import { type JsonDocument, kinds } from '../json/json-document.ts';

// Providers count with tokenizers of their own; what is reserved should not fall short of them. No tokenizer has more
// tokens than bytes, and prose has far fewer.

/** Prose has more bytes a token, code about as many; random letters have fewer (docs/decisions/budgets.md). */
const bytesPerToken = 3;
/** Beyond ASCII, characters that a tokenizer does not know become a token for each of their two to four bytes. */
const wideTokensPerByte = 1;
/** An escape such as \u4e00 is six bytes, and three in UTF-8. */
const escapedTokens = 3;
const escapeBytes = 6;
// Images and documents: providers count their pixels and pages, of which the bytes tell little.
const encodedBytesPerToken = 20;
const encodedLeastTokens = 1_600;
const encodedFromBytes = 4_096;
const encodedMembers = new Set(['data', 'url', 'image_url', 'file_data', 'signature', 'encrypted_content']);
const encodedText = /^(?:data:[\w.+/;=-]*,)?[\w+/=-]*$/;
const pieceBytes = 65_536;

/** The most tokens of input that a request is likely to be counted as. */
export function worstInputTokens(document: JsonDocument): number {
  let textBytes = document.bytes.length;
  let otherTokens = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) !== kinds.string) continue;
    const start = document.start(entry);
    const end = document.end(entry);
    if (end - start >= encodedFromBytes && isEncoded(document, entry)) {
      textBytes -= end - start;
      otherTokens += Math.max(encodedLeastTokens, Math.ceil((end - start) / encodedBytesPerToken));
      continue;
    }
    if (document.isWide(entry)) {
      const wide = countWide(document.bytes, start, end);
      textBytes -= wide;
      otherTokens += wide * wideTokensPerByte;
    }
    if (document.isEscaped(entry)) {
      const escapes = countEscapes(document.bytes, start, end);
      textBytes -= escapes * escapeBytes;
      otherTokens += escapes * escapedTokens;
    }
  }
  return Math.ceil(textBytes / bytesPerToken) + otherTokens;
}

/** Whether a long text is base64 or a data URL, at a place where media are: elsewhere it is billed as text. */
function isEncoded(document: JsonDocument, entry: number): boolean {
  if (entry === 0 || !document.isKey(entry - 1) || !encodedMembers.has(document.text(entry - 1)))
    return false;
  const start = document.start(entry);
  return encodedText.test(document.bytes.toString('latin1', start, start + encodedFromBytes));
}

/** Bytes above 0x7f: as Latin-1 each becomes two in UTF-8, which the engine counts quicker than a loop does. */
function countWide(bytes: Buffer, start: number, end: number): number {
  let wide = 0;
  for (let from = start; from < end; from += pieceBytes) {
    const to = Math.min(end, from + pieceBytes);
    wide += Buffer.byteLength(bytes.toString('latin1', from, to)) - (to - from);
  }
  return wide;
}

function countEscapes(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (
    let at = bytes.indexOf('\\u', start);
    at >= 0 && at < end;
    at = bytes.indexOf('\\u', at + escapeBytes)
  ) {
    count += 1;
  }
  return count;
}
