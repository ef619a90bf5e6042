import { isUtf8 } from 'node:buffer';
import type { TextAnswer } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { decidingRule } from '../ring/to-row.ts';
import { pastedBody, toAscii } from './curl.ts';

/**
 * A fixture for `gateway policy test` that expects the decision that was made. JSON strings are valid YAML, so every
 * text is written as one; `raw` preserves the body's bytes if YAML can't express them.
 */
export function toFixture(entry: RingEntry, scrub: (text: string) => string): TextAnswer {
  const body = pastedBody(entry);
  const { facts } = entry;
  const { id } = entry;
  const { decision } = facts;
  const asked = facts.rules?.filter(({ on }) => on !== 'answer');
  const rule = decidingRule({ rules: asked ?? [] }, decision);
  const lines = [
    `name: ${id}`,
    ...(facts.endpoint === undefined ? [] : [`endpoint: ${facts.endpoint}`]),
    ...(facts.key === undefined ? [] : [`key: ${toAscii(JSON.stringify(facts.key))}`]),
    ...(facts.time === undefined ? [] : [`time: ${facts.time}`]),
    bodyLine(withoutSecrets(body, scrub)),
    'expect:',
    // A refusal without a decision comes from strict parsing.
    `  decision: ${decision ?? 'block'}`,
    ...(rule === undefined ? [] : [`  rule: ${rule}`]),
    ...(decision === undefined && facts.reason !== undefined ? [`  reason: ${facts.reason}`] : []),
  ];
  return { name: `${id}.yaml`, text: `${lines.join('\n')}\n` };
}

/** Masks the configured secrets, which are ASCII, and keeps every other byte. */
function withoutSecrets(body: Buffer, scrub: (text: string) => string): Buffer {
  return Buffer.from(scrub(body.toString('latin1')), 'latin1');
}

/** A body that survives parsing and serializing is written as YAML; any other as its text or its bytes. */
function bodyLine(body: Buffer): string {
  const text = body.toString();
  if (!isUtf8(body)) return `raw: !!binary ${body.toString('base64')}`;
  return isPlainObject(text) ? `body: ${toAscii(text)}` : `raw: ${toAscii(JSON.stringify(text))}`;
}

/** Whether parsing and serializing loses nothing: no key is duplicated, no number loses digits. */
function isPlainObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && JSON.stringify(value) === text;
  } catch {
    return false; // strict parsing refused it, which is what the test is about
  }
}
