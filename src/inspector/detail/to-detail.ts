import { recordedTarget } from '../../dialects/registry.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type {
  AnswerPart,
  Bodies,
  ExchangeDetail,
  Mark,
  RuleDetail,
  Source,
  StreamEvent,
} from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { rounded, toRow } from '../ring/to-row.ts';
import { readStream, shownText, toBody } from './answer-parts.ts';
import { byName, headerLines, toExcerpt } from './excerpt.ts';
import { withoutSecrets } from './hide.ts';
import { locate, textOf } from './locate.ts';
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
  readonly atMs: number;
}

/** What the rules decide about a request. */
export interface Explained {
  readonly rules: readonly RuleDetail[];
  /** What leaves in place of values, with these. */
  readonly masked: readonly (readonly [placeholder: string, value: string])[];
}

interface Backend {
  scrub(text: string): string;
  explain(request: DecisionInput): Promise<Explained | undefined>;
  ruleLines(): Promise<ReadonlyMap<string, Source>>;
}

/** Everything that is known about an exchange, computed on demand. */
export async function toDetail(entry: RingEntry, backend: Backend): Promise<ExchangeDetail> {
  const { facts, record } = entry;
  const { scrub } = backend;
  const { rules, isWhole, masked } = await rulesOf(entry, backend);
  const last = entry.sent.at(-1);
  const shown = {
    attempts: entry.sent.map(({ head, atMs }) => ({
      provider: head.provider,
      model: head.model,
      form: head.form,
      at_ms: rounded(atMs),
    })),
    rules,
    all_rules: isWhole,
    headers: headerLines(entry.rawHeaders, last?.head.headers, scrub),
    answer_headers: headerLines([], entry.answerHeaders, scrub),
    form: facts.body,
    dropped: facts.dropped ?? [],
    message: entry.message,
    cause: facts.cause,
    record: record && { ...record },
  };
  return {
    ...withoutSecrets(shown, scrub),
    row: toRow(entry, scrub),
    // Scrubbed before their marks are placed.
    ...(entry.hasBodies ? { bodies: bodiesOf(entry, { rules, masked }, backend) } : {}),
  };
}

interface Rules extends Explained {
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
          endpoint: recordedTarget({ path: facts.path ?? '', model: facts.model }),
          key: facts.key,
          atMs: Date.parse(facts.time ?? ''),
        });
  const rules =
    explained === undefined
      ? recorded
      : [
          ...withExcerpts(explained.rules, receivedBody ?? Buffer.alloc(0), backend.scrub),
          ...recorded.filter(({ on }) => on !== 'request'),
        ];
  const withLines = rules.map((rule) => {
    const source = lines.get(rule.rule);
    return source === undefined ? rule : { ...rule, source };
  });
  return { rules: withLines, isWhole: explained !== undefined, masked: explained?.masked ?? [] };
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
  scrub: (text: string) => string,
): readonly RuleDetail[] {
  const text = shownText(body, scrub);
  const places = rules.flatMap(({ matches }) => matches.map(({ at }) => at));
  const values = locate(text, places);
  // With secrets scrubbed, the offsets of matches would be wrong.
  const isOriginal = text === shownText(body, (original) => original);
  return rules.map((rule) => ({
    ...rule,
    matches: rule.matches.map(({ ranges, ...match }) => {
      const kept = isOriginal && ranges !== undefined ? { ranges } : {};
      const value = match.at === '' ? undefined : values.get(match.at);
      if (value === undefined) return { ...match, ...kept };
      return {
        ...match,
        ...kept,
        ...toExcerpt(textOf(text.slice(value.start, value.end)), kept.ranges),
      };
    }),
  }));
}

function bodiesOf(entry: RingEntry, { rules, masked }: Explained, { scrub }: Backend): Bodies {
  const { receivedBody, sentBody, answer = [], facts } = entry;
  const type = byName(entry.answerHeaders).get('content-type') ?? '';
  const isStreamed = facts.stream === true && type.startsWith('text/event-stream');
  const stream = isStreamed ? readStream(answer, facts.endpoint ?? '', scrub) : undefined;
  const find = findersOf(masked, maskingRules(rules));
  const received =
    receivedBody && toBody(receivedBody, scrub, (text) => findMarks(text, receivedMarks(rules, facts)));
  const sent =
    sentBody && toBody(sentBody, scrub, (text) => sentMarks(text, received?.text ?? '', { rules, find }));
  const pieces = answer.length === 0 ? undefined : Buffer.concat(answer.map(({ bytes }) => bytes));
  const withMarks = <Part extends AnswerPart | StreamEvent>(part: Part, text: string): Part => {
    const marks = find.answered(text);
    return marks.length === 0 ? part : { ...part, marks };
  };
  return {
    ...(received && { received }),
    ...(sent && { sent }),
    ...(pieces && {
      // Of a very long answer only the beginning is kept.
      answer: {
        ...toBody(pieces, scrub, (text) => answerMarks(text, { rules, find })),
        bytes: entry.bytesOut,
      },
    }),
    ...(stream && {
      answer_parts: stream.parts.map((part) => withMarks(part, part.text)),
      events: stream.events.map((event) => withMarks(event, event.data)),
    }),
  };
}

interface Finders {
  /** Where placeholders are. */
  readonly placeholders: (text: string) => readonly Mark[];
  /** In what the client got: values that the provider never had, and placeholders that stayed, as in signed thinking. */
  readonly answered: (text: string) => readonly Mark[];
}

function findersOf(masked: Explained['masked'], rule: string): Finders {
  const placeholders = createTextFinder(
    masked.map(([placeholder]) => placeholder),
    { kind: 'redacted', rule },
  );
  const values = createTextFinder(
    masked.map(([, value]) => value),
    { kind: 'restored', rule },
  );
  return { placeholders, answered: (text) => withoutOverlap([...values(text), ...placeholders(text)]) };
}

interface Finding {
  readonly rules: readonly RuleDetail[];
  readonly find: Finders;
}

function sentMarks(text: string, received: string, { rules, find }: Finding): readonly Mark[] {
  const onRequest = rules.filter(({ on }) => on !== 'answer');
  return withoutOverlap([
    ...findRedactions(text, received, onRequest),
    ...find.placeholders(text),
    ...findMarks(text, matchMarks(rules, 'outgoing')),
  ]);
}

/** Of an answer only what the client got is kept, so a label that the model itself wrote is marked too. */
function answerMarks(text: string, { rules, find }: Finding): readonly Mark[] {
  const redacted = findRedactions(
    text,
    '',
    rules.filter(({ on }) => on === 'answer'),
  );
  const judged = redacted.length > 0 ? redacted : findMarks(text, matchMarks(rules, 'answer'));
  return withoutOverlap([...find.answered(text), ...judged]);
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
    .flatMap(({ rule, matches }) =>
      matches.map(({ at, ranges }) => ({ kind: 'match', at, rule, ...(ranges && { ranges }) })),
    );
}

/** Accepts field names as dotted paths or as pointers. */
function toPointer(name: string): string {
  return name.startsWith('/') ? name : `/${name.replaceAll('.', '/')}`;
}
