import { isFields, toFields } from '../dialects/fields.ts';

// A documented estimate, used for every figure of the sandbox: four characters (code points) are one token.
const charactersPerToken = 4;
// Images, audio and files are not billed by their length in base64.
const mediaTokens = 256;
const mediaTypes = new Set([
  'image',
  'document',
  'image_url',
  'input_image',
  'input_audio',
  'input_file',
  'file',
]);

/** Whether a part of a message is a picture, a sound or a file. */
export function isMedia(value: unknown): boolean {
  if (!isFields(value)) return false;
  // Google's; a JSON schema may have a property, or a type, of such a name.
  const { inlineData, fileData, type } = value;
  if ('mimeType' in toFields(inlineData) || 'fileUri' in toFields(fileData)) return true;
  return typeof type === 'string' && mediaTypes.has(type) && !('properties' in value);
}

/** Characters divided by four, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(countCharacters(text) / charactersPerToken);
}

/** The first `tokens` tokens of the text, never half a character. */
export function cutToTokens(text: string, tokens: number): string {
  const length = tokens * charactersPerToken;
  return text.length <= length ? text : text.slice(0, endOfCharacters(text, 0, length));
}

/** The text in pieces of `length` characters, never splitting one. */
export function* slices(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = endOfCharacters(text, start, length);
    yield text.slice(start, end);
    start = end;
  }
}

/** The first characters of a text on one line, with an ellipsis where some were left out. */
export function clip(text: string, length: number): string {
  const line = text
    .slice(0, length * 16)
    .replace(/\s+/g, ' ')
    .trim();
  const end = endOfCharacters(line, 0, length);
  return end < line.length ? `${line.slice(0, end)}…` : line;
}

/** Estimates the prompt: all names and texts in the given parts of a request, media at a flat rate. */
export function countPromptTokens(...parts: readonly unknown[]): number {
  const sum = { characters: 0, tokens: 0 };
  const waiting: unknown[] = [...parts];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') sum.characters += countCharacters(value);
    else if (typeof value === 'number' || typeof value === 'boolean') sum.characters += String(value).length;
    else if (Array.isArray(value)) for (const element of value) waiting.push(element);
    else if (isFields(value)) {
      if (isMedia(value)) {
        sum.tokens += mediaTokens;
        continue;
      }
      for (const name in value) {
        sum.characters += name.length;
        waiting.push(value[name]);
      }
    }
  }
  return Math.max(1, sum.tokens + Math.ceil(sum.characters / charactersPerToken));
}

function countCharacters(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length - 1; i += 1) if (isPair(text, i)) pairs += 1;
  return text.length - pairs;
}

function endOfCharacters(text: string, start: number, count: number): number {
  let end = start;
  for (let taken = 0; taken < count && end < text.length; taken += 1) end += isPair(text, end) ? 2 : 1;
  return end;
}

function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
