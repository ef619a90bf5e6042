import * as z from 'zod';
import { reaching } from './reach.ts';
import { amount, price } from './scalars.ts';

const timeZone = z
  .string()
  .refine(isTimeZone, 'expected the name of a time zone such as UTC or Europe/Berlin');

/** A company's agents read more than 10^9 tokens a month. */
const tokens = z.int().min(1).max(1_000_000_000_000);

/** How much a project or a key may use. */
export const limitsSchema = reaching(
  'nothing',
  z.strictObject({
    requests_per_minute: amount.optional().describe('Requests in any minute.'),
    tokens_per_minute: tokens.optional().describe('Tokens of input and output in any minute.'),
    concurrent_requests: amount.optional().describe('Requests at the same time.'),
    tokens_per_day: tokens.optional().describe('Tokens in a day.'),
    tokens_per_month: tokens.optional().describe('Tokens in a month.'),
    usd_per_day: price.optional().describe('US$ in a day.'),
    usd_per_month: price.optional().describe('US$ in a month.'),
    unpriced: z
      .enum(['refuse', 'allow'])
      .default('refuse')
      .describe('What a budget in US$ does with a model whose price is unknown.'),
    time_zone: timeZone.default('UTC').describe('Time zone at whose midnight days begin, as an IANA name.'),
    mode: z
      .enum(['enforce', 'monitor'])
      .default('enforce')
      .describe('Refuse, or only record what would be refused.'),
  }),
);

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false; // RangeError: there is no such zone
  }
}
