import type { ExchangeRecord } from '../../record/record.ts';
import type { InspectorBackend } from '../backend.ts';
import type { Bodies, ExchangeDetail, RuleDetail } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { toRow } from '../ring/to-row.ts';
import { readStream } from './answer-events.ts';
import { toExcerpt } from './excerpt.ts';
import { headerLines } from './header-lines.ts';
import { locate } from './locate.ts';
import { shownText, toBody, type WantedMark } from './to-body.ts';

type Backend = Pick<InspectorBackend, 'scrub' | 'explain' | 'ruleLines'>;

/** Everything that is known about an exchange, computed on demand. */
export async function toDetail(entry: RingEntry, backend: Backend): Promise<ExchangeDetail> {
  const { facts, record } = entry;
  const { scrub } = backend;
  const { rules, isWhole } = await rulesOf(entry, backend);
  const last = entry.sent.at(-1);
  return {
    row: toRow(entry),
    attempts: entry.sent.map(({ head, atMs }) => ({
      provider: head.provider,
      model: head.model,
      form: head.form,
      at_ms: Math.round(atMs * 10) / 10,
    })),
    rules,
    all_rules: isWhole,
    headers: headerLines(entry.rawHeaders, last?.head.headers, scrub),
    answer_headers: headerLines([], entry.answerHeaders, scrub),
    ...(facts.body === undefined ? {} : { form: facts.body }),
    dropped: facts.dropped ?? [],
    ...(entry.hasBodies ? { bodies: bodiesOf(entry, rules, backend) } : {}),
    ...(entry.message === undefined ? {} : { message: scrub(entry.message) }),
    ...(facts.cause === undefined ? {} : { cause: facts.cause }),
    ...(record === undefined ? {} : { record: { ...record } }),
  };
}

interface Rules {
  readonly rules: readonly RuleDetail[];
  /** Whether the rules that did not match are included. */
  readonly isWhole: boolean;
}

/** With a body, every rule's result on it, plus the record's matches elsewhere (outgoing request, answer). */
async function rulesOf(entry: RingEntry, backend: Backend): Promise<Rules> {
  const { receivedBody, facts } = entry;
  const recorded = (facts.rules ?? []).map(toDetailOf);
  const lines = await backend.ruleLines();
  const explained =
    receivedBody === undefined || facts.key === undefined
      ? undefined
      : await backend.explain({
          body: receivedBody,
          endpoint: facts.endpoint,
          key: facts.key,
          atMs: Date.parse(facts.time ?? ''),
        });
  const rules =
    explained === undefined
      ? recorded
      : [
          ...withExcerpts(explained, receivedBody ?? Buffer.alloc(0), backend.scrub),
          ...recorded.filter(({ on }) => on !== 'request'),
        ];
  const withLines = rules.map((rule) => {
    const source = lines.get(rule.rule);
    return source === undefined ? rule : { ...rule, source };
  });
  return { rules: withLines, isWhole: explained !== undefined };
}

function toDetailOf({
  id,
  action,
  mode,
  at,
  count,
  on,
}: NonNullable<ExchangeRecord['rules']>[number]): RuleDetail {
  return {
    rule: id,
    action,
    mode,
    matched: true,
    on: on ?? 'request',
    matches: at === undefined ? [] : [{ at, count }],
  };
}

/** Rules with the masked text at each place where they match. */
export function withExcerpts(
  rules: readonly RuleDetail[],
  body: Buffer,
  scrub: (text: string) => string,
): readonly RuleDetail[] {
  const text = shownText(body, scrub);
  const places = rules.flatMap(({ matches }) => matches.map(({ at }) => at));
  const values = locate(text, places);
  // With secrets masked, the offsets of matches would be wrong.
  const isOriginal = Buffer.byteLength(text) === body.length && body.equals(Buffer.from(text));
  return rules.map((rule) => ({
    ...rule,
    matches: rule.matches.map((match) => {
      const value = match.at === '' ? undefined : values.get(match.at);
      if (value === undefined) return match;
      const range = isOriginal ? match.range : undefined;
      return { ...match, ...toExcerpt(textOf(text.slice(value.start, value.end)), range) };
    }),
  }));
}

/** A JSON value as text: a string without quotes and escapes. */
function textOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json; // cut at the end of what is shown
  }
}

function bodiesOf(entry: RingEntry, rules: readonly RuleDetail[], { scrub }: Backend): Bodies {
  const { receivedBody, sentBody, answer = [], facts } = entry;
  const streamed = facts.stream === true && isEventStream(entry.answerHeaders);
  const stream = streamed ? readStream(answer, facts.endpoint ?? '', scrub) : undefined;
  return {
    ...(receivedBody === undefined
      ? {}
      : { received: toBody(receivedBody, scrub, receivedMarks(rules, facts)) }),
    ...(sentBody === undefined ? {} : { sent: toBody(sentBody, scrub, sentMarks(rules)) }),
    ...(answer.length === 0
      ? {}
      : { answer: toBody(Buffer.concat(answer.map(({ bytes }) => bytes)), scrub, answerMarks(rules)) }),
    ...(stream === undefined ? {} : { answer_parts: stream.parts, events: stream.events }),
  };
}

function receivedMarks(
  rules: readonly RuleDetail[],
  { dropped = [] }: Partial<ExchangeRecord>,
): readonly WantedMark[] {
  const matches = matchesOn(rules, 'request').map(({ at, rule }) => ({ kind: 'match' as const, at, rule }));
  const fields = dropped.filter((name) => !name.includes(':'));
  return [...matches, ...fields.map((name) => ({ kind: 'dropped' as const, at: toPointer(name) }))];
}

function sentMarks(rules: readonly RuleDetail[]): readonly WantedMark[] {
  const redacting = rules.filter(
    ({ action, mode, matched }) => matched && action === 'redact' && mode === 'enforce',
  );
  const redacted = redacting.flatMap(({ rule, matches }) =>
    matches.map(({ at }) => ({ kind: 'redacted' as const, at, rule })),
  );
  const matches = matchesOn(rules, 'outgoing').map(({ at, rule }) => ({ kind: 'match' as const, at, rule }));
  return [...redacted, ...matches];
}

function answerMarks(rules: readonly RuleDetail[]): readonly WantedMark[] {
  return matchesOn(rules, 'answer').map(({ at, rule }) => ({ kind: 'match', at, rule }));
}

function matchesOn(rules: readonly RuleDetail[], on: RuleDetail['on']) {
  return rules
    .filter((rule) => rule.matched && rule.on === on)
    .flatMap(({ rule, matches }) => matches.map(({ at }) => ({ at, rule })));
}

/** Accepts field names as dotted paths or as pointers. */
function toPointer(name: string): string {
  return name.startsWith('/') ? name : `/${name.replaceAll('.', '/')}`;
}

function isEventStream(headers: readonly string[]): boolean {
  return headers.some(
    (value, i) => i % 2 === 1 && headers[i - 1] === 'content-type' && value.startsWith('text/event-stream'),
  );
}
