import type { SessionSum } from '../../record/ledger/session-report.ts';
import { alignedUsd } from '../shell/print/table.ts';

type Used = Pick<
  SessionSum,
  'requests' | 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cost_usd' | 'unpriced'
>;

/** How much of the input was read from a cache. */
export function cachedShare({
  input_tokens: input,
  cache_read_tokens: cached,
}: Pick<Used, 'input_tokens' | 'cache_read_tokens'>): string {
  return input === 0 ? '-' : `${Math.floor((100 * Math.min(cached, input)) / input)} %`;
}

/** What was used, in one line for a person. */
export function amountsText(used: Used): string {
  const { requests, input_tokens: input, output_tokens: output, cost_usd: usd, unpriced } = used;
  const cached = used.cache_read_tokens === 0 ? '' : ` (${cachedShare(used)} cached)`;
  const cost = unpriced === requests ? 'no price known' : `US$ ${alignedUsd([usd])[0]}`;
  const rest = unpriced > 0 && unpriced < requests ? ` without ${unpriced} of no known price` : '';
  return `${requests} request${requests === 1 ? '' : 's'}, ${input} tokens in${cached}, ${output} out, ${cost}${rest}`;
}
