import { type Fields, isFields, toFields, toKnownCount, toList } from '../fields.ts';
import { noUsage, toCacheWrites, toModes, type Usage } from '../usage.ts';

/**
 * Usage as Messages counts it: cached tokens beside the input's, not within them. Counts are cumulative over a
 * stream: what is there replaces what was known, what is missing or no count does not.
 */
export function parseMessagesUsage(value: unknown, known?: Usage): Usage | undefined {
  if (!isFields(value)) return known;
  const passes = parsePasses(value.iterations);
  if (passes.length === 0) return parseAnswerUsage(value, known);
  const answer = parseAnswerUsage(value, known?.answer ?? known);
  if (answer === undefined) return undefined;
  // Advice costs what the model costs that gives it.
  const isAdvised = toList(value.iterations).some((each) => toFields(each).type === advice);
  return passes.reduce(addUsage, { ...answer, answer, ...(isAdvised && { surcharge: advice }) });
}

/** Passes of the provider's own, which it charges for: a summary of a long conversation, another model's advice. */
const advice = 'advisor_message';
const ownPasses: ReadonlySet<unknown> = new Set(['compaction', advice]);

/** The counts beside the list of passes leave these out. */
function parsePasses(iterations: unknown): readonly Usage[] {
  if (!Array.isArray(iterations)) return [];
  return iterations.flatMap((each) =>
    isFields(each) && ownPasses.has(each.type) ? (parseAnswerUsage(each) ?? []) : [],
  );
}

function addUsage(sum: Usage, pass: Usage): Usage {
  return {
    ...sum,
    inputTokens: sum.inputTokens + pass.inputTokens,
    outputTokens: sum.outputTokens + pass.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + pass.cacheReadTokens,
    cacheWriteTokens: sum.cacheWriteTokens + pass.cacheWriteTokens,
    longCacheWriteTokens: (sum.longCacheWriteTokens ?? 0) + (pass.longCacheWriteTokens ?? 0),
  };
}

function parseAnswerUsage(value: Fields, known?: Usage): Usage | undefined {
  const [input, output] = [toKnownCount(value.input_tokens), toKnownCount(value.output_tokens)];
  if (known === undefined && input === undefined && output === undefined) return undefined;
  const before = known ?? noUsage;
  const uncached = before.inputTokens - before.cacheReadTokens - before.cacheWriteTokens;
  const cacheReadTokens = latest(value.cache_read_input_tokens, before.cacheReadTokens);
  const written = toCacheWrites(value.cache_creation);
  // Hosts may leave out the sum, or send an older one.
  const cacheWriteTokens = Math.max(
    latest(value.cache_creation_input_tokens, before.cacheWriteTokens),
    written.all,
  );
  const longBefore = before.longCacheWriteTokens ?? 0;
  // What is written later without its lifetime is kept as long as what came before.
  const later = longBefore > 0 ? Math.max(0, cacheWriteTokens - before.cacheWriteTokens) : 0;
  const longCacheWriteTokens = written.long ?? longBefore + later;
  const { surcharge = before.surcharge, plainModes = before.plainModes } = toModes(value);
  const searches = latest(toFields(value.server_tool_use).web_search_requests, before.searches ?? 0);
  const inputTokens = (input ?? uncached) + cacheReadTokens + cacheWriteTokens;
  const isPartial = output === undefined || (input === undefined && inputTokens === 0);
  return {
    inputTokens,
    outputTokens: output ?? before.outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    reasoningTokens: latest(toFields(value.output_tokens_details).thinking_tokens, before.reasoningTokens),
    ...(searches > 0 && { searches }),
    ...(isPartial && { isPartial }),
    ...(surcharge !== undefined && { surcharge }),
    ...(plainModes !== undefined && { plainModes }),
  };
}

/** Of an event: the first has the input's usage and not yet the output's, the last the output's. */
export function parseMessagesEventUsage({ message, usage }: Fields, known?: Usage): Usage | undefined {
  const start = parseMessagesUsage(toFields(message).usage);
  return start === undefined ? parseMessagesUsage(usage, known) : { ...start, isPartial: true };
}

function latest(value: unknown, known: number): number {
  return toKnownCount(value) ?? known;
}

export function buildMessagesUsage(usage: Usage): Fields {
  const uncached = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens;
  return {
    input_tokens: Math.max(0, uncached),
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    ...(usage.reasoningTokens > 0
      ? { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }
      : {}),
  };
}
