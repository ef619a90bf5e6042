import { GatewayError } from '../../errors.ts';
import type { TextAnswer } from '../contract/exchange-detail.ts';
import type { RingEntry } from '../ring/entry.ts';
import { isSecretName } from './mask.ts';
import { shownBytes } from './to-body.ts';

/** Client headers that affect the answer; the others only identify the client. */
const kept = /^(?:content-type|accept|anthropic-[a-z-]+|openai-[a-z-]+|idempotency-key)$/;

/** The exchange as a command line that reads the key from the environment, so that no copied text contains it. */
export function toCurl(entry: RingEntry, origin: string, scrub: (text: string) => string): TextAnswer {
  const body = scrub(pastedBody(entry).toString());
  const { path = '/' } = entry.facts;
  const headers = Object.entries(meaningfulHeaders(entry))
    .filter(([name]) => name === 'idempotency-key' || !isSecretName(name))
    .map(([name, value]) => `  -H ${quoted(scrub(`${name}: ${value}`))} \\\n`);
  const command = `curl ${quoted(origin + path)} \\\n  -H "authorization: Bearer $GATEWAY_KEY" \\\n`;
  // Not --data-binary, for which a body that begins with @ names a file to send.
  const text = `${command}${headers.join('')}  --data-raw ${quoted(toAscii(body))}\n`;
  return { name: `${entry.id}.sh`, text };
}

export function meaningfulHeaders({ rawHeaders }: RingEntry): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (kept.test(name)) headers[name] = rawHeaders[i + 1] as string;
  }
  return headers;
}

/** Throws inspector.not_kept, and request.too_large if the body is too long to paste. */
export function pastedBody(entry: RingEntry): Buffer {
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
export function toAscii(json: string): string {
  return json
    .replace(/[\t\n\r]/g, ' ')
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
