import { type JsonDocument, kinds } from '../../json/json-document.ts';

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
/** The smallest picture has more. */
const encodedFromBytes = 64;
/** So much of one is looked at. */
const examinedBytes = 4_096;
const encodedMembers = new Set(['data', 'url', 'image_url', 'file_data', 'signature', 'encrypted_content']);
const encodedText = /^(?:data:[\w.+/;=-]*,)?[\w+/=-]*$/;
const dataUrl = Buffer.from('data:');
const backslash = 0x5c;
const letterU = 0x75;

/** The tokens of plain text of so many bytes. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

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
    const wide = document.wideBytes(entry);
    const escapes = document.isUnicodeEscaped(entry) ? countEscapes(document.bytes, start, end) : 0;
    textBytes -= wide + escapes * escapeBytes;
    otherTokens += wide * wideTokensPerByte + escapes * escapedTokens;
  }
  return tokensOf(textBytes) + otherTokens;
}

/**
 * Whether a text is base64 or a data URL in a media field: anywhere else it is billed as text. So may be a short one: a
 * large picture of one colour takes a few hundred bytes.
 */
function isEncoded(document: JsonDocument, entry: number): boolean {
  if (entry === 0 || !document.isKey(entry - 1)) return false;
  const [start, end] = [document.start(entry), document.end(entry)];
  const isShort = end - start < examinedBytes;
  if (isShort && !isDataUrl(document.bytes, start) && !document.isText(entry - 1, 'data')) return false;
  if (!encodedMembers.has(document.text(entry - 1))) return false;
  return encodedText.test(document.bytes.toString('latin1', start, Math.min(end, start + examinedBytes)));
}

function isDataUrl(bytes: Buffer, start: number): boolean {
  // Nearly every text begins otherwise.
  return (
    bytes[start] === dataUrl[0] &&
    bytes.compare(dataUrl, 0, dataUrl.length, start, start + dataUrl.length) === 0
  );
}

/** How many escapes such as \u4e00 there are in a string. */
function countEscapes(bytes: Buffer, start: number, end: number): number {
  let escapes = 0;
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== backslash) continue;
    at += 1;
    if (bytes[at] === letterU) escapes += 1;
  }
  return escapes;
}
