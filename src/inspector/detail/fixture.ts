import type { TextAnswer } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { toRow } from '../ring/to-row.ts';
import { requireBody, toAscii } from './curl.ts';

/**
 * A fixture for `gateway policy test` that expects what was decided. JSON strings are YAML strings, so every text is
 * written as one; `raw` keeps the body to the byte, where YAML could not say it.
 */
export function toFixture(entry: RingEntry, scrub: (text: string) => string): TextAnswer {
  const body = requireBody(entry);
  const { facts } = entry;
  const { decision, rule, id } = toRow(entry);
  const lines = [
    `name: ${id}`,
    ...(facts.endpoint === undefined ? [] : [`endpoint: ${facts.endpoint}`]),
    ...(facts.key === undefined ? [] : [`key: ${toAscii(JSON.stringify(facts.key))}`]),
    ...(facts.time === undefined ? [] : [`time: ${facts.time}`]),
    bodyLine(scrub(body.toString()), body),
    'expect:',
    // What is refused without a decision is what the strict reading refused.
    `  decision: ${decision ?? 'block'}`,
    ...(rule === undefined ? [] : [`  rule: ${rule}`]),
    ...(decision === undefined && facts.reason !== undefined ? [`  reason: ${facts.reason}`] : []),
  ];
  return { name: `${id}.yaml`, text: `${lines.join('\n')}\n` };
}

/** A body that JSON can say anew is written as it is read; every other one as its bytes. */
function bodyLine(text: string, body: Buffer): string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject && JSON.stringify(value) === text.trim()) return `body: ${toAscii(text.trim())}`;
    if (isObject) return `raw: ${toAscii(JSON.stringify(text))}`;
  } catch {
    // Refused by the strict reading, which is what the test is about.
  }
  return `raw: !!binary ${body.toString('base64')}`;
}
