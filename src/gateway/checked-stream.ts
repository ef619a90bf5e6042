import type { Dialect } from '../dialects/dialect.ts';
import { createSseParser, formatSse } from '../dialects/sse.ts';
import { GatewayError } from '../errors.ts';
import type { StreamCheck, StreamStep } from '../policy/stream-check.ts';
import type { PassingStream } from './passing-stream.ts';

/**
 * A stream whose events pass the rules on answers before the client gets them. They are the client's own
 * events, translated or not, and each is written anew; only streams that have such rules pay for it.
 */
export function checkedStream(inner: PassingStream, check: StreamCheck, dialect: Dialect): PassingStream {
  let text = '';
  let events = 0;
  let isWhole = false;
  const take = ({ release, refusal }: StreamStep): void => {
    for (const { name, data } of release) text += formatSse(name, data);
    events += release.length;
    if (refusal === undefined) return;
    throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
  };
  const parser = createSseParser((name, data) => {
    take(check.push({ ...(name === undefined ? {} : { name }), data }));
  });
  const give = (): Buffer => {
    // Not before the rules have let the last event go: they may refuse in the very chunk that brings it.
    isWhole = inner.isWhole;
    const bytes = Buffer.from(text);
    text = '';
    return bytes;
  };
  return {
    pass(chunk) {
      parser.push(inner.pass(chunk));
      if (inner.state !== 'open') take(check.end());
      return give();
    },
    end() {
      parser.push(inner.end());
      parser.end();
      take(check.end());
      return give();
    },
    fail(error, requestId) {
      // What the rules let go before they refused, and nothing that still waits for them.
      const bytes = Buffer.from(text + dialect.errorEvent(error, requestId, events));
      text = '';
      return bytes;
    },
    get state() {
      return inner.state;
    },
    get isWhole() {
      return isWhole;
    },
    get usage() {
      return inner.usage;
    },
  };
}
