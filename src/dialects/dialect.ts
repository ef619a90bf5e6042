import type { GatewayError } from '../errors.ts';
import type { JsonDocument } from '../json/json-document.ts';

/** Who a text of a request comes from, as policies name it. */
export type Role = 'system' | 'user' | 'assistant' | 'tool_result' | 'tool_definition';

/** Tokens of one exchange. `inputTokens` counts cached ones too, in every dialect. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/**
 * How one wire format says what the gateway needs to know. What a dialect does not name here is
 * forwarded and scanned all the same; it is just not understood.
 */
export interface Dialect {
  /** The path that speaks it. */
  readonly path: `/v1/${string}`;
  readonly canStream: boolean;
  /** Top-level fields that cap the output, each a positive integer. */
  readonly caps: readonly string[];
  /** Top-level fields that must be there, beside `model`. */
  readonly required: readonly string[];
  /**
   * What the top-level fields hold: texts of one role, or the turns of the conversation. Texts anywhere
   * else count as of every role, so that no rule can be avoided by a field that nobody thought of.
   */
  readonly places: ReadonlyMap<string, Role | 'turns'>;
  /** The role of one turn's texts; undefined counts as every role. */
  turnRole(document: JsonDocument, turn: number): Role | undefined;
  /** The role of a content block that differs from its turn's (a tool result inside a user turn). */
  blockRole(type: string): Role | undefined;

  /** The usage in a whole answer. */
  answerUsage(answer: unknown): Usage | undefined;
  /** What one event of a stream adds to the usage known so far. */
  eventUsage(event: unknown, known: Usage | undefined): Usage | undefined;
  /** Whether an event, given its first 100 bytes, is one after which a well-behaved stream ends. */
  isLastEvent(head: string): boolean;
  /** Whether a body that ends after this event, without a last one, was complete all the same. */
  mayEndAfter(event: string): boolean;
  /** The text of an error event, for failures after the first byte of a stream. */
  errorEvent(error: GatewayError, requestId: string, sequence: number): string;
}

/** The value of the field that holds the system's texts or the turns; no dialect has two of either. */
export function fieldOf(
  document: JsonDocument,
  dialect: Dialect,
  place: 'system' | 'turns',
): number | undefined {
  for (const [name, held] of dialect.places) if (held === place) return document.member(document.root, name);
  return undefined;
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A count of tokens as hosts write it; null, absent and rubbish are 0. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0;
}

/** Usage with the names that records and scripts see. */
export interface UsageFields {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

export function toUsageFields(usage: Usage): UsageFields {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    reasoning_tokens: usage.reasoningTokens ?? 0,
  };
}
