import { isUtf8 } from 'node:buffer';
import { hasModel } from '../../dialects/model-path.ts';
import { recordedTarget } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import type { TextResponse } from '../contract/exchange-detail.ts';
import { decidingRule } from '../contract/exchange-list.ts';
import type { RingEntry } from '../ring/ring.ts';
import { type Scrub, shownBytes } from './answer-parts.ts';
import { byName } from './excerpt.ts';
import { isSecretName } from './hide.ts';

/** Client headers that affect the answer; the others only identify the client. */
const kept = /^(?:content-type|accept|anthropic-[a-z-]+|openai-[a-z-]+|idempotency-key)$/;

/** The exchange as a command line that reads the key from the environment, so that no copied text contains it. */
export function toCurl(entry: RingEntry, origin: string, scrub: Scrub): TextResponse {
  const body = scrub(pastedBody(entry).toString());
  const { path = '/', model } = entry.soFar;
  const headers = Object.entries(meaningfulHeaders(entry))
    .filter(([name]) => name === 'idempotency-key' || !isSecretName(name))
    .map(([name, value]) => `  -H ${quoted(scrub(`${name}: ${value}`))} \\\n`);
  const command = `curl ${quoted(origin + recordedTarget({ path, model }))} \\\n  -H "authorization: Bearer $GATEWAY_KEY" \\\n`;
  // Not --data-binary, for which a body that begins with @ names a file to send.
  const text = `${command}${headers.join('')}  --data-raw ${quoted(toAscii(body))}\n`;
  return { name: `${entry.id}.sh`, text };
}

export function meaningfulHeaders({ rawHeaders }: RingEntry): Readonly<Record<string, string>> {
  return Object.fromEntries([...byName(rawHeaders)].filter(([name]) => kept.test(name)));
}

/** Throws inspector.not_kept, and request.too_large if the body is too long to paste. */
function pastedBody(entry: RingEntry): Buffer {
  const body = requireBody(entry);
  if (body.length <= shownBytes) return body;
  throw new GatewayError('request.too_large', 'a body of more than a megabyte is too long to paste');
}

/** Throws inspector.not_kept. */
export function requireBody({ receivedBody }: RingEntry): Buffer {
  if (receivedBody !== undefined) return receivedBody;
  throw new GatewayError(
    'inspector.not_kept',
    'the body of this exchange was not kept; switch "keep bodies" on and send it again',
  );
}

/** For a POSIX shell, in which nothing is special between single quotes. */
function quoted(text: string): string {
  return `'${printable(text).replaceAll("'", `'\\''`)}'`;
}

/** Only printable ASCII is safe to paste into a terminal. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** The same JSON in printable ASCII: line ends are only whitespace, and everything else can be escaped. */
function toAscii(json: string): string {
  return json
    .replace(/[\t\n\r]/g, ' ')
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * A fixture for `gateway policy test` that expects the decision that was made. JSON strings are valid YAML, so every
 * text is written as one; `raw` preserves the body's bytes if YAML can't express them.
 */
export function toFixture(entry: RingEntry, scrub: Scrub): TextResponse {
  const body = pastedBody(entry);
  const { soFar, id } = entry;
  const { decision, path = '/', model } = soFar;
  const asked = soFar.rules?.filter(({ on }) => on !== 'answer');
  const rule = decidingRule({ rules: asked ?? [] }, decision);
  const lines = [
    `name: ${id}`,
    ...(soFar.endpoint === undefined
      ? []
      : [`endpoint: ${hasModel({ path }) ? recordedTarget({ path, model }) : soFar.endpoint}`]),
    ...(soFar.key === undefined ? [] : [`key: ${toAscii(JSON.stringify(soFar.key))}`]),
    ...(soFar.time === undefined ? [] : [`time: ${soFar.time}`]),
    bodyLine(withoutSecrets(body, scrub)),
    'expect:',
    // A refusal without a decision comes from strict parsing.
    `  decision: ${decision ?? 'block'}`,
    ...(rule === undefined ? [] : [`  rule: ${rule}`]),
    ...(decision === undefined && soFar.reason !== undefined ? [`  reason: ${soFar.reason}`] : []),
  ];
  return { name: `${id}.yaml`, text: `${lines.join('\n')}\n` };
}

/** Scrubs the configured secrets, which are ASCII, and keeps every other byte. */
function withoutSecrets(body: Buffer, scrub: Scrub): Buffer {
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
