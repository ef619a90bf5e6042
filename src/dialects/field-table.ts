import { traitsOf } from '../hosts/find-host.ts';
import { canStopThinking, takesReasoningEffort, takesSampling, thinkingControl } from '../hosts/models.ts';
import { type Dropped, type Fields, noteDropped, unsupported } from './fields.ts';
import type { TranslationContext } from './translation/context.ts';

/** Kept for the parser of the request, left out, or a 400 with `param` and these words. */
type Fate = 'kept' | 'dropped' | { readonly refused: string };
type FieldRule = Fate | ((value: unknown, context: TranslationContext) => Fate);

/**
 * What becomes of each top-level field of a request on its way to a provider of another dialect. docs/translation.md says
 * it in words for all fields, and tests compare the two.
 */
export type FieldTable = ReadonlyMap<string, FieldRule>;

interface FieldRules {
  /** Names with spaces between; so are those that are dropped. */
  readonly kept?: string;
  readonly dropped?: string;
  readonly rules?: Readonly<Record<string, FieldRule>>;
}

export function fieldTable(...parts: readonly FieldRules[]): FieldTable {
  const names = (text = '') => text.split(' ').filter((name) => name !== '');
  return new Map(
    parts.flatMap(({ kept, dropped, rules = {} }): (readonly [string, FieldRule])[] => [
      ...names(kept).map((name) => [name, 'kept'] as const),
      ...names(dropped).map((name) => [name, 'dropped'] as const),
      ...Object.entries(rules),
    ]),
  );
}

/**
 * Refuses what must be refused, and returns the body without what is dropped. A field that the table does not know is
 * dropped.
 */
export function applyTable(
  body: Fields,
  table: FieldTable,
  context: TranslationContext,
  dropped: Dropped,
): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const rule = table.get(key) ?? 'dropped';
    const fate = typeof rule === 'function' ? rule(value, context) : rule;
    if (fate === 'kept') kept[key] = value;
    else if (fate === 'dropped') noteDropped(dropped, key);
    else throw unsupported(key, fate.refused);
  }
  return kept;
}

export function refused(why: string): Fate {
  return { refused: why };
}

/** Values that ask for nothing are dropped. */
function refusedIf(isAsking: (value: unknown) => boolean, why: string): FieldRule {
  return (value) => (isAsking(value) ? { refused: why } : 'dropped');
}

export function droppedIf(isUnknown: (context: TranslationContext) => boolean): FieldRule {
  return (_value, context) => (isUnknown(context) ? 'dropped' : 'kept');
}

export function isNotOpenAi(context: TranslationContext): boolean {
  return !traitsOf(context).openAiOptions;
}

// What becomes of a client's fields, whichever other dialect the provider speaks.

const isOn = (value: unknown) => value === true;
const needsState = refused('the state is kept at another provider; send the whole conversation');

export const messagesFields = {
  kept: 'model stream messages system max_tokens stop_sequences tools tool_choice output_config',
  dropped:
    'top_k cache_control container context_management service_tier speed user_profile_id diagnostics betas',
  rules: {
    mcp_servers: refusedIf(
      (value) => (Array.isArray(value) ? value.length > 0 : value !== ''),
      'tools of an MCP server need the provider to call it; this one does not',
    ),
    inference_geo: refused('this provider makes no promise about the place of inference'),
  },
};

export const chatFields = {
  kept: 'model stream stream_options messages max_completion_tokens max_tokens stop response_format tools tool_choice',
  dropped: `top_logprobs seed frequency_penalty presence_penalty logit_bias prediction store prompt_cache_retention`,
  rules: {
    n: refusedIf((value) => value !== 1, 'only one choice can be answered'),
    logprobs: refusedIf(isOn, 'this provider has no log probabilities'),
    modalities: refusedIf(
      (value) => Array.isArray(value) && value.some((each) => each !== 'text'),
      'only text can be answered',
    ),
    audio: refused('only text can be answered'),
    functions: refused('the old form of tools; use tools'),
    function_call: refused('the old form of tool_choice; use tool_choice'),
  },
};

export const responsesFields = {
  kept: 'model stream input instructions max_output_tokens text tools tool_choice',
  dropped: `store include client_metadata truncation context_management max_tool_calls top_logprobs stream_options metadata`,
  rules: {
    previous_response_id: needsState,
    conversation: needsState,
    prompt: needsState,
    background: refusedIf(isOn, 'answers cannot be fetched later'),
  },
};

// What a model of the provider's may not take; `effort` is the client's field for how much it is to think.

export function toOpenAi(effort: string) {
  return {
    rules: {
      temperature: droppedIf((context) => !takesSampling(context)),
      top_p: droppedIf((context) => !takesSampling(context)),
      [effort]: droppedIf((context) => !takesReasoningEffort(context) && !canStopThinking(context)),
    },
  };
}

/** From a dialect of OpenAI's to the other. */
export const betweenOpenAi = {
  kept: 'user safety_identifier parallel_tool_calls',
  rules: { service_tier: droppedIf(isNotOpenAi), prompt_cache_key: droppedIf(isNotOpenAi) },
};

/** From a dialect of OpenAI's. */
export function toMessages(effort: string) {
  return {
    kept: 'user safety_identifier parallel_tool_calls',
    dropped: 'service_tier prompt_cache_key',
    rules: {
      temperature: droppedIf((context) => !takesSampling(context)),
      top_p: droppedIf((context) => !takesSampling(context)),
      [effort]: droppedIf((context) => thinkingControl(context) === 'none'),
    },
  };
}
