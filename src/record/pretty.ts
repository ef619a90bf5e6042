import type { ExchangeRecord } from './record.ts';

type Paint = (colour: 'red' | 'green' | 'yellow' | 'dim', text: string) => string;

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
    paint('dim', record.request_id),
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
  const { outcome, usage, first_byte_ms: firstByte, would_block: wouldBlock } = record;
  const words: string[] = [];
  if (outcome === 'answered' && record.stream === true && firstByte !== undefined)
    words.push(`first ${Math.round(firstByte)}`);
  if (usage !== undefined) words.push(`in ${usage.input_tokens} out ${usage.output_tokens}`);
  if (outcome === 'left') words.push('the client left');
  else if (record.decision === 'block') words.push(paint('red', `blocked ${blocker(record)}`));
  else if (record.reason !== undefined) words.push(paint('red', record.reason));
  if (wouldBlock !== undefined) words.push(paint('yellow', `would block ${wouldBlock.join(' ')}`));
  if (record.cause !== undefined) words.push(paint('dim', `(${visible(record.cause)})`));
  return words;
}

function blocker({ rules, reason }: ExchangeRecord): string {
  return rules?.find((rule) => rule.action === 'block' && rule.mode === 'enforce')?.id ?? reason ?? '';
}
