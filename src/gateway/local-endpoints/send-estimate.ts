import { kinds } from '../../json/json-document.ts';
import type { Exchange } from '../exchange.ts';
import type { ModelRequest } from '../request.ts';

// English prose and code average about four bytes per token; good enough for a client's context gauge.
const bytesPerToken = 4;

/** Estimates tokens for providers that can't count them; marked as an estimate, so that nobody bills by it. */
export function sendEstimate(exchange: Exchange, { document }: ModelRequest): void {
  let bytes = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) === kinds.string) bytes += document.end(entry) - document.start(entry);
  }
  const tokens = Math.max(1, Math.ceil(bytes / bytesPerToken));
  exchange.sendJson({ input_tokens: tokens }, { headers: { 'x-gateway-estimate': 'true' } });
}
