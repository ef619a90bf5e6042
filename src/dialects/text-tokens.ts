import type { Dialect } from './dialect.ts';
import type { Tally } from './usage.ts';

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const colon = 0x3a;
const comma = 0x2c;

/** Members whose texts the model did not write, or that repeat what another member says. */
const labels = new Set([
  ...['type', 'id', 'role', 'status', 'object', 'call_id', 'token'],
  ...['finish_reason', 'stop_reason', 'stop_sequence'],
  ...['finishReason', 'thoughtSignature', 'mimeType'],
]);

/**
 * The most tokens that the texts in some members of a JSON text are likely to be: one for three bytes of ASCII, and one
 * for each byte beyond, as for a request (docs/decisions/budgets.md). `json` is UTF-8 read as Latin-1, whole or cut
 * anywhere; `members` matches the name of a member and what precedes its value, and has the flag `g`.
 */
export function countTextTokens(json: string, members: RegExp): number {
  let tokens = 0;
  members.lastIndex = 0;
  while (members.test(json)) {
    const value = readValue(json, members.lastIndex);
    tokens += Math.ceil(value.thirds / 3);
    members.lastIndex = value.end;
  }
  return tokens;
}

/** The members with these names, for `countTextTokens`. */
export function membersNamed(...names: readonly string[]): RegExp {
  return new RegExp(`"(?:${names.join('|')})"\\s*:`, 'g');
}

/** The texts of one value, in thirds of a token, and where it ends. */
function readValue(json: string, start: number): { readonly thirds: number; readonly end: number } {
  let thirds = 0;
  let depth = 0;
  let isLabelled = false;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const text = readText(json, at + 1);
      if (isKey(json, text.end)) isLabelled = labels.has(json.slice(at + 1, text.end));
      else if (!isLabelled) thirds += text.thirds;
      at = text.end;
      if (depth === 0) return { thirds, end: at };
    } else if (code === comma) {
      isLabelled = false;
      if (depth === 0) return { thirds, end: at };
    } else if (isOpening(code)) {
      depth += 1;
    } else if (isClosing(code)) {
      depth -= 1;
      if (depth <= 0) return { thirds, end: at };
    }
  }
  return { thirds, end: json.length };
}

/** From after the opening quote to the closing one, or to where the JSON is cut. */
function readText(json: string, start: number): { readonly thirds: number; readonly end: number } {
  let thirds = 0;
  let at = start;
  for (; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash) {
      const isLong = json.charCodeAt(at + 1) === letterU;
      // Six bytes that are up to three in UTF-8; the others are one.
      thirds += isLong ? 9 : 1;
      at += isLong ? 5 : 1;
    } else {
      thirds += code < 0x80 ? 1 : 3;
    }
  }
  return { thirds, end: Math.min(at, json.length) };
}

function isKey(json: string, closingQuote: number): boolean {
  let at = closingQuote + 1;
  while (json.charCodeAt(at) <= 0x20) at += 1;
  return json.charCodeAt(at) === colon;
}

function isOpening(code: number): boolean {
  return code === 0x7b || code === 0x5b;
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}

/** What a provider's whole answer used: parsed, and its bytes. */
export function tallyAnswer(dialect: Dialect, answer: unknown, bytes: Buffer): Tally {
  const usage = dialect.answerUsage(answer);
  const isReported = usage !== undefined && usage.isPartial !== true && usage.outputTokens > 0;
  if (isReported) return { usage, unreportedTokens: 0 };
  return { usage, unreportedTokens: countTextTokens(bytes.toString('latin1'), dialect.writtenMembers) };
}
