import { isUtf8 } from 'node:buffer';
import type { TextAnswer } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { toRow } from '../ring/to-row.ts';
import { pastedBody, toAscii } from './curl.ts';

/**
 * A fixture for `gateway policy test` that expects what was decided. JSON strings are YAML strings, so every text is
 * written as one; `raw` keeps the body to the byte, where YAML could not say it.
 */
export function toFixture(entry: RingEntry, scrub: (text: string) => string): TextAnswer {
  const body = pastedBody(entry);
  const { facts } = entry;
  const { decision, rule, id } = toRow(entry);
  const lines = [
    `name: ${id}`,
    ...(facts.endpoint === undefined ? [] : [`endpoint: ${facts.endpoint}`]),
    ...(facts.key === undefined ? [] : [`key: ${toAscii(JSON.stringify(facts.key))}`]),
    ...(facts.time === undefined ? [] : [`time: ${facts.time}`]),
    bodyLine(withoutSecrets(body, scrub)),
    'expect:',
    // What is refused without a decision is what the strict reading refused.
    `  decision: ${decision ?? 'block'}`,
    ...(rule === undefined ? [] : [`  rule: ${rule}`]),
    ...(decision === undefined && facts.reason !== undefined ? [`  reason: ${facts.reason}`] : []),
  ];
  return { name: `${id}.yaml`, text: `${lines.join('\n')}\n` };
}

/** Byte for byte but for the configured secrets, which are ASCII. */
function withoutSecrets(body: Buffer, scrub: (text: string) => string): Buffer {
  return Buffer.from(scrub(body.toString('latin1')), 'latin1');
}

/** A body that JSON can say anew is written as it is read; every other one as its text or its bytes. */
function bodyLine(body: Buffer): string {
  const text = body.toString();
  if (!isUtf8(body)) return `raw: !!binary ${body.toString('base64')}`;
  return isPlainObject(text) ? `body: ${toAscii(text)}` : `raw: ${toAscii(JSON.stringify(text))}`;
}

/** Whether reading the text and writing it again gives the same: no key is there twice, no number loses digits. */
function isPlainObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && JSON.stringify(value) === text;
  } catch {
    return false; // refused by the strict reading, which is what the test is about
  }
}
