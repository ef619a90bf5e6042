import type { Dialect } from './dialect.ts';
import { countTextTokens } from './text-tokens.ts';
import type { Tally } from './usage.ts';

/** What a provider's whole answer used: parsed, and its bytes. */
export function tallyAnswer(dialect: Dialect, answer: unknown, bytes: Buffer): Tally {
  const usage = dialect.answerUsage(answer);
  const isReported = usage !== undefined && usage.isPartial !== true && usage.outputTokens > 0;
  if (isReported) return { usage, unreportedTokens: 0 };
  return { usage, unreportedTokens: countTextTokens(bytes.toString('latin1'), dialect.writtenMembers) };
}
