import { toFields, toList, toText } from '../../dialects/fields.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import type {
  CheckFinding,
  CheckResult,
  CheckService,
  Unasked,
  UnaskedText,
} from '../../policy/checks/check-book.ts';

/** Longest answer, in bytes: a thousand findings in each of a thousand texts are less. */
const maxAnswerBytes = 64 * 2 ** 20;
/** Most findings in one text. */
const maxFindings = 1_000;
const noFindings: readonly CheckFinding[] = [];
const kindPattern = /^[\w .:/-]{1,64}$/;

/**
 * Asks a service about texts, in one call. Never rejects: where it doesn't answer in time, or answers something else, each
 * text gets the reason, in words that repeat nothing of it or of the texts.
 */
export async function askService(
  { service, texts }: Unasked,
  lifetime: Lifetime,
): Promise<readonly (readonly [id: string, result: CheckResult])[]> {
  const results = await resultsOf(service, texts, lifetime);
  return texts.map(({ id }, at) => [id, 'failure' in results ? results : (results[at] ?? nothing)] as const);
}

const nothing: CheckResult = { failure: 'its service said nothing of a text' };

async function resultsOf(
  service: CheckService,
  texts: readonly UnaskedText[],
  lifetime: Lifetime,
): Promise<readonly CheckResult[] | { readonly failure: string }> {
  const { origin } = new URL(service.url);
  const fail = (what: string) => ({ failure: `the service at ${origin} ${what}` });
  const ended = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ended.abort();
  }, service.timeoutMs);
  const forget = lifetime.onEnd(() => ended.abort());
  try {
    const answer = await fetch(service.url, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(question(service, texts)),
      signal: ended.signal,
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return fail(`answered with status ${answer.status}`);
    }
    const body = await readBody(answer);
    if (body === undefined) return fail('answered more than it may');
    const lists = listsOf(service, parse(body));
    if (lists?.length !== texts.length) return fail('answered something else than a list for each text');
    return lists.map((list, at) => {
      const findings = findingsOf(service, list, texts[at]?.text ?? '');
      return typeof findings === 'string' ? fail(findings) : findings;
    });
  } catch (error) {
    if (isLate) return fail(`did not answer within ${service.timeoutMs} ms; a longer timeout may help`);
    // A code alone: what the client library says may name anything.
    const { code, message } = toFields(toFields(error).cause);
    if (message === 'bad port') return fail('is at a port that browsers and fetch refuse: use another one');
    return fail(typeof code === 'string' ? `could not be asked (${code})` : 'could not be asked');
  } finally {
    clearTimeout(timer);
    forget();
  }
}

function question({ api, language }: CheckService, texts: readonly UnaskedText[]): unknown {
  if (api === 'presidio') return { text: texts.map(({ text }) => text), language };
  return { texts: texts.map(({ text, at }) => ({ text, at })) };
}

/** Undefined if there is too much of it. */
async function readBody(answer: Response): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    length += piece.length;
    if (length > maxAnswerBytes) return undefined; // leaving the loop cancels it
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** A list of findings for each text, in the order in which they were sent. */
function listsOf({ api }: CheckService, answer: unknown): readonly unknown[] | undefined {
  const lists = api === 'presidio' ? answer : toFields(answer).findings;
  return Array.isArray(lists) && lists.every(Array.isArray) ? lists : undefined;
}

/** The findings of one text in order, or what is wrong with them. */
function findingsOf({ api }: CheckService, list: unknown, text: string): readonly CheckFinding[] | string {
  const all = toList(list);
  if (all.length === 0) return noFindings;
  if (all.length > maxFindings) return `found more than ${maxFindings} things in one text`;
  // Presidio counts in characters, as Python does.
  const toUnits = api === 'presidio' ? unitsIn(text) : undefined;
  const findings: CheckFinding[] = [];
  for (const each of all) {
    const { start, end, score = 1, ...rest } = toFields(each);
    const kind = toText(api === 'presidio' ? rest.entity_type : rest.kind);
    const range = { start: unitAt(start, toUnits), end: unitAt(end, toUnits) };
    if (!(range.start < range.end && range.end <= text.length) || isWithinPair(text, range)) {
      return 'named a place that is not in the text';
    }
    if (!kindPattern.test(kind)) return 'named no kind for what it found, or one that is no plain name';
    if (typeof score !== 'number' || !(score >= 0 && score <= 1))
      return 'gave a score that is not from 0 to 1';
    findings.push({ ...range, kind, score });
  }
  return findings.sort((one, other) => one.start - other.start);
}

/** NaN for what is no place. */
function unitAt(place: unknown, toUnits: ((characters: number) => number) | undefined): number {
  if (!Number.isSafeInteger(place) || (place as number) < 0) return Number.NaN;
  return toUnits === undefined ? (place as number) : toUnits(place as number);
}

/** Returns the UTF-16 unit at which a character begins; NaN behind the end. Every so many characters its unit is kept. */
function unitsIn(text: string): (characters: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (characters) => characters;
  const marks: number[] = [];
  let characters = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) {
    if (characters % markEvery === 0) marks.push(at);
    characters += 1;
  }
  return (sought) => {
    if (sought > characters) return Number.NaN;
    let at = marks[Math.floor(sought / markEvery)] ?? text.length;
    for (let left = sought % markEvery; left > 0; left -= 1) at += widthAt(text, at);
    return Math.min(at, text.length);
  };
}

const markEvery = 1_024;

function widthAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Whether one of its ends is in the middle of a character. */
function isWithinPair(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): boolean {
  return [start, end].some((at) => at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff);
}
