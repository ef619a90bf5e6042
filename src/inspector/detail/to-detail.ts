import { shownPlace } from '../../dialects/place-names.ts';
import { recordedTarget } from '../../dialects/registry.ts';
import { type Sender, senderIn } from '../../gateway/sender.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type { Bodies, ExchangeDetail, Mark, RuleDetail, RuleLocation } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/ring.ts';
import { rounded, toRow } from '../ring/to-row.ts';
import { readStream, type Scrub, shownText, toBody } from './answer-parts.ts';
import { byName, headerLines, toExcerpt } from './excerpt.ts';
import { withoutSecrets } from './hide.ts';
import { decodeString, locate } from './locate.ts';
import {
  createTextFinder,
  findMarks,
  findRedactions,
  rulesThat,
  type WantedMark,
  withoutOverlap,
} from './marks.ts';

/** A request with everything that its decision depends on. */
export interface DecisionInput {
  readonly body: Buffer;
  /** The endpoint's name or path; guessed from the body by default. */
  readonly endpoint?: string | undefined;
  /** The key's id; the first key by default. */
  readonly key?: string | undefined;
  /** Who sends it, as far as its client says. */
  readonly sender?: Sender | undefined;
  readonly atMs: number;
}

/** What the rules decide about a request. */
export interface Explained {
  readonly rules: readonly RuleDetail[];
  /** Places of keys and passwords of documentation, which rules pass over. */
  readonly examples: readonly string[];
  /** What leaves in place of values, with these. */
  readonly masked: readonly (readonly [placeholder: string, value: string])[];
}

interface Backend {
  readonly scrub: Scrub;
  explain(request: DecisionInput): Promise<Explained | undefined>;
  ruleLines(): Promise<ReadonlyMap<string, RuleLocation>>;
}

/** Everything that is known about an exchange, computed on demand. */
export async function toDetail(entry: RingEntry, backend: Backend): Promise<ExchangeDetail> {
  const { soFar, record } = entry;
  const { scrub } = backend;
  const { rules, hasAllRules, masked, examples } = await rulesOf(entry, backend);
  const last = entry.sent.at(-1);
  const shown = {
    attempts: entry.sent.map(({ head, atMs }) => ({
      provider: head.provider,
      model: head.model,
      form: head.form,
      at_ms: rounded(atMs),
    })),
    rules,
    all_rules: hasAllRules,
    examples,
    headers: headerLines(entry.rawHeaders, last?.head.headers, scrub),
    answer_headers: headerLines([], entry.answerHeaders, scrub),
    form: soFar.body,
    route: soFar.route,
    dropped: soFar.dropped ?? [],
    changed: soFar.changed ?? [],
    message: entry.message,
    cause: soFar.cause,
    record: record && { ...record },
  };
  return {
    ...withoutSecrets(shown, scrub),
    row: toRow(entry, scrub),
    // Scrubbed before their marks are placed.
    bodies: entry.receivedBody && bodiesOf(entry, entry.receivedBody, { rules, masked }, scrub),
  };
}

/** With a body, every rule's result on it, plus the record's matches elsewhere (outgoing request, answer). */
async function rulesOf(entry: RingEntry, backend: Backend) {
  const recorded = (entry.soFar.rules ?? []).map(toDetailOf);
  const lines = await backend.ruleLines();
  const explained = await explain(entry, backend);
  const rules =
    explained === undefined
      ? recorded
      : [...explained.rules, ...recorded.filter(({ on }) => on !== 'request')];
  return {
    rules: rules.map((rule) => ({ ...rule, source: lines.get(rule.rule) })),
    hasAllRules: explained !== undefined,
    masked: explained?.masked ?? [],
    examples: explained?.examples ?? [],
  };
}

async function explain(
  { receivedBody: body, soFar }: RingEntry,
  backend: Backend,
): Promise<Explained | undefined> {
  if (body === undefined || soFar.key === undefined) return undefined;
  const explained = await backend.explain({
    body,
    endpoint: recordedTarget({ path: soFar.path ?? '', model: soFar.model }),
    key: soFar.key,
    sender: senderIn(soFar),
    atMs: Date.parse(soFar.time ?? ''),
  });
  return explained && { ...explained, rules: withExcerpts(explained.rules, body, backend.scrub) };
}

type RecordedRule = NonNullable<ExchangeRecord['rules']>[number];

function toDetailOf({ id, at, count, ...rest }: RecordedRule): RuleDetail {
  const matches = at === undefined ? [] : [{ at, count }];
  return { on: 'request', ...rest, rule: id, matched: true, matches };
}

/** Rules with the shape of the text at each place where they match; without ranges where scrubbing has moved them. */
export function withExcerpts(
  rules: readonly RuleDetail[],
  body: Buffer,
  scrub: Scrub,
): readonly RuleDetail[] {
  const text = shownText(body, scrub);
  const places = rules.flatMap(({ matches }) => matches.map(({ at }) => at));
  const values = locate(text, places);
  // With secrets scrubbed, the offsets of matches would be wrong.
  const isOriginal = text === shownText(body, (original) => original);
  return rules.map((rule) => ({
    ...rule,
    matches: rule.matches.map((match) => {
      const ranges = isOriginal ? match.ranges : undefined;
      const value = match.at === '' ? undefined : values.get(match.at);
      const excerpt = value && toExcerpt(decodeString(text.slice(value.start, value.end)), ranges);
      return { ...match, at: shownPlace(match.at), ranges, ...excerpt };
    }),
  }));
}

function bodiesOf(
  entry: RingEntry,
  receivedBody: Buffer,
  { rules, masked }: Omit<Explained, 'examples'>,
  scrub: Scrub,
): Bodies {
  const { sentBody, answer = [], soFar } = entry;
  const type = byName(entry.answerHeaders).get('content-type') ?? '';
  const isStreamed = soFar.stream === true && type.startsWith('text/event-stream');
  const stream = isStreamed ? readStream(answer, soFar.endpoint ?? '', scrub) : undefined;
  const rule = maskingRules(rules);
  const placeholders = createTextFinder(
    masked.map(([placeholder]) => placeholder),
    { kind: 'redacted', rule },
  );
  const values = createTextFinder(
    masked.map(([, value]) => value),
    { kind: 'restored', rule },
  );
  // What the client got has values that the provider never had, and placeholders that stayed, as in signed thinking.
  const unmasked = (text: string) => withoutOverlap([...values(text), ...placeholders(text)]);

  const received = toBody(receivedBody, scrub, (text) => findMarks(text, receivedMarks(rules, soFar)));
  const sentMarks = (text: string) =>
    withoutOverlap([
      ...findRedactions(
        text,
        received.text,
        rules.filter(({ on }) => on !== 'answer'),
      ),
      ...placeholders(text),
      ...findMarks(text, matchMarks(rules, 'outgoing')),
    ]);
  const answerMarks = (text: string) => withoutOverlap([...unmasked(text), ...judgedMarks(text, rules)]);
  const pieces = answer.length === 0 ? undefined : Buffer.concat(answer.map(({ bytes }) => bytes));
  return {
    received,
    sent: sentBody && toBody(sentBody, scrub, sentMarks),
    // Of a very long answer only the beginning is kept.
    answer: pieces && { ...toBody(pieces, scrub, answerMarks), bytes: entry.bytesOut },
    answer_parts: stream?.parts.map((part) => ({ ...part, marks: unmasked(part.text) })),
    events: stream?.events.map((event) => ({ ...event, marks: unmasked(event.data) })),
  };
}

/** Of an answer only what the client got is kept, so a label that the model itself wrote is marked too. */
function judgedMarks(text: string, rules: readonly RuleDetail[]): readonly Mark[] {
  const redacted = findRedactions(
    text,
    '',
    rules.filter(({ on }) => on === 'answer'),
  );
  return redacted.length > 0 ? redacted : findMarks(text, matchMarks(rules, 'answer'));
}

function maskingRules(rules: readonly RuleDetail[]): string {
  const masking = rulesThat('mask', rules).filter(({ on }) => on !== 'answer');
  return [...new Set(masking.map(({ rule }) => rule))].join(', ');
}

function receivedMarks(
  rules: readonly RuleDetail[],
  { dropped = [] }: Partial<ExchangeRecord>,
): readonly WantedMark[] {
  const fields = dropped.filter((name) => !name.includes(':'));
  return [
    ...matchMarks(rules, 'request'),
    ...fields.map((name) => ({ kind: 'dropped' as const, at: toPointer(name) })),
  ];
}

/** Marks for what rules matched. */
export function matchMarks(rules: readonly RuleDetail[], on: RuleDetail['on']): readonly WantedMark[] {
  return rules
    .filter((rule) => rule.matched && rule.on === on)
    .flatMap(({ rule, matches }) => matches.map(({ at, ranges }) => ({ kind: 'match', at, rule, ranges })));
}

/** Accepts field names as dotted paths or as pointers. */
function toPointer(name: string): string {
  return name.startsWith('/') ? name : `/${name.replaceAll('.', '/')}`;
}
