import { type JsonDocument, kinds } from '../json/json-document.ts';

// Providers count with their own tokenizers, and a reservation should not be below their count. A tokenizer never makes
// more tokens than there are bytes, and for prose far fewer.

/** Prose has more bytes per token, code about as many; random letters have fewer (docs/decisions/budgets.md). */
const bytesPerToken = 3;
/** Beyond ASCII, a character that a tokenizer does not know becomes one token for each of its two to four bytes. */
const wideTokensPerByte = 1;
/** An escape such as \u4e00 is six bytes long, but three in UTF-8. */
const escapedTokens = 3;
const escapeBytes = 6;
// Providers count images and documents by pixels and pages, which their size in bytes says little about.
const encodedBytesPerToken = 20;
const encodedLeastTokens = 1_600;
const encodedFromBytes = 4_096;
const encodedMembers = new Set(['data', 'url', 'image_url', 'file_data', 'signature', 'encrypted_content']);
const encodedText = /^(?:data:[\w.+/;=-]*,)?[\w+/=-]*$/;
const pieceBytes = 65_536;

/** The most input tokens that a request is likely to be counted as. */
export function worstInputTokens(document: JsonDocument): number {
  let textBytes = document.bytes.length;
  let otherTokens = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    const start = document.start(entry);
    const end = document.end(entry);
    // In a list of tokens, which embeddings take, one digit and its comma are a token.
    if (document.kind(entry) === kinds.number && end - start === 1) textBytes += bytesPerToken - 2;
    if (document.kind(entry) !== kinds.string) continue;
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

/** Whether a long text is base64 or a data URL in a media field: anywhere else it is billed as text. */
function isEncoded(document: JsonDocument, entry: number): boolean {
  if (entry === 0 || !document.isKey(entry - 1) || !encodedMembers.has(document.text(entry - 1)))
    return false;
  const start = document.start(entry);
  return encodedText.test(document.bytes.toString('latin1', start, start + encodedFromBytes));
}

/** Counts bytes above 0x7f: read as Latin-1 each takes two bytes in UTF-8, a length that V8 computes faster than a loop. */
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
