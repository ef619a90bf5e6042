import type { ExchangeRecord } from './record.ts';

type Paint = (colour: 'red' | 'green' | 'yellow' | 'dim', text: string) => string;

/** Of a request's id, `req_` and eight digits: enough to find it by, in a line of 80 columns. */
const shownIdLength = 12;

/** One line that a person can read while requests come in. */
export function prettyLine(record: ExchangeRecord, paint: Paint): string {
  const parts = [
    paint('dim', clock(record.time)),
    mark(record, paint),
    String(record.status),
    record.project ?? '-',
    record.endpoint ?? visible(`${record.method} ${record.path}`),
    ...(record.model === undefined ? [] : [modelPart(record)]),
    `${Math.round(record.total_ms)}ms`,
    ...details(record, paint),
    paint('dim', record.request_id.slice(0, shownIdLength)),
  ];
  return `${parts.join(' ')}\n`;
}

/** Without terminal control characters: anybody may request any path. */
function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?');
}

/** In the local time zone. */
function clock(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

function mark({ outcome, status }: ExchangeRecord, paint: Paint): string {
  if (outcome === 'left') return paint('yellow', '–');
  return outcome === 'answered' && status < 400 ? paint('green', '✓') : paint('red', '✗');
}

function modelPart({ model, provider, target_model: target }: ExchangeRecord): string {
  if (provider === undefined) return `${model}`;
  return target === undefined || target === model ? `${model}→${provider}` : `${model}→${provider}/${target}`;
}

function details(record: ExchangeRecord, paint: Paint): string[] {
  const { outcome, usage, first_byte_ms: firstByte, would_block: wouldBlock, broken_placeholders } = record;
  const words: string[] = [];
  if (outcome === 'answered' && record.stream === true && firstByte !== undefined)
    words.push(`first ${Math.round(firstByte)}`);
  if (usage !== undefined) words.push(`in ${usage.input_tokens} out ${usage.output_tokens}`);
  if (outcome === 'left') words.push('the client left');
  else if (record.decision === 'block')
    words.push(paint('red', `blocked ${decidingRule(record) ?? record.reason ?? ''}`));
  else if (record.reason !== undefined) words.push(paint('red', record.reason));
  const applied = appliedWords[record.decision ?? ''];
  if (applied !== undefined) words.push(paint('yellow', `${applied} ${decidingRule(record) ?? ''}`));
  if (wouldBlock !== undefined) words.push(paint('yellow', `would block ${wouldBlock.join(' ')}`));
  for (const [kind, count] of Object.entries(broken_placeholders ?? {})) {
    words.push(paint('yellow', `broken placeholders ${kind} ${count}`));
  }
  if (record.cause !== undefined) words.push(paint('dim', `(${visible(record.cause)})`));
  return words;
}

const appliedWords: Readonly<Record<string, string>> = { warn: 'warned', redact: 'redacted', mask: 'masked' };

/** The id of the rule that determined the decision. */
export function decidingRule({ rules, decision }: ExchangeRecord): string | undefined {
  return rules?.find((rule) => rule.action === decision && rule.mode === 'enforce')?.id;
}
