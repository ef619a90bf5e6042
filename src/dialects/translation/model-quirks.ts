import type { ConversationRequest, Effort } from '../conversation.ts';
import { type Dropped, noteDropped } from '../fields.ts';

/** The context of a translation: everything that pure code can't find out by itself. */
export interface TranslationContext {
  /** The name the client asked for; answers carry it. */
  readonly requestedModel: string;
  /** The model's name at the provider. */
  readonly targetModel: string;
  /** Which vendor's behaviour applies. */
  readonly host: 'openai' | 'anthropic' | 'compatible';
  /** The model's limit where configured: larger requests are lowered to it. */
  readonly maxOutputTokens?: number;
  /** The limit that is sent where the client sent none and the provider needs one. */
  readonly defaultMaxOutputTokens?: number;
  /** A fresh id that begins with the prefix, for example `newId('msg_')`. */
  readonly newId: (prefix: string) => string;
  /** Whether the answer is streamed, if the client's body doesn't say. */
  readonly isStreaming?: boolean;
  /** Unix seconds, for the `created` of answers. */
  readonly createdS: number;
}

type Target = Pick<TranslationContext, 'host' | 'targetModel'>;

/** The model's name without the vendor that aggregators put in front: `openai/gpt-5` is `gpt-5`. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}

function startsWithAny(name: string, starts: readonly string[]): boolean {
  return starts.some((start) => name.startsWith(start));
}

/** OpenAI's reasoning models refuse temperature and top_p, and are the ones that know an effort. */
export function isOpenAiReasoningModel({ targetModel }: Target): boolean {
  const name = bareName(targetModel);
  if (name.includes('-chat')) return false;
  return startsWithAny(name, ['o1', 'o3', 'o4', 'gpt-5', 'gpt-6', 'codex']);
}

// Other hosts answer 400 to an effort for a model that can't reason (Ollama does), so only names known to take it.
export function takesReasoningEffort(target: Target): boolean {
  return isOpenAiReasoningModel(target) || bareName(target.targetModel).startsWith('gpt-oss');
}

/** The effort if the model takes one; otherwise it is noted as dropped. */
export function acceptedEffort(
  { effort }: Pick<ConversationRequest, 'effort'>,
  target: Target,
  dropped: Dropped,
): Effort | undefined {
  if (effort === undefined || takesReasoningEffort(target)) return effort;
  noteDropped(dropped, 'reasoning effort');
  return undefined;
}

function isClaude({ host, targetModel }: Target): boolean {
  return host === 'anthropic' || bareName(targetModel).startsWith('claude');
}

const withoutThinking = ['claude-3-haiku', 'claude-3-opus', 'claude-3-sonnet', 'claude-3-5'];
const withBudget = [
  'claude-3-7',
  'claude-opus-4-0',
  'claude-opus-4-1',
  'claude-opus-4-2025',
  'claude-sonnet-4-0',
  'claude-sonnet-4-2025',
  'claude-sonnet-4-5',
  'claude-haiku-4',
];

/** How a Claude model's thinking is controlled: not at all, by a token budget (older ones), or by an effort level. */
export function thinkingControl(target: Target): 'none' | 'budget' | 'effort' {
  const name = bareName(target.targetModel);
  if (!isClaude(target) || startsWithAny(name, withoutThinking)) return 'none';
  return startsWithAny(name, withBudget) ? 'budget' : 'effort';
}

// Newer Claude models refuse temperature and top_p; the ones known to take them are a closed list.
const withSampling = ['claude-3', ...withBudget, 'claude-opus-4-5', 'claude-opus-4-6', 'claude-sonnet-4'];

export function takesSampling(target: Target): boolean {
  return !isClaude(target) || startsWithAny(bareName(target.targetModel), withSampling);
}

/** How a Gemini model's thinking is controlled: not at all, by a token budget (version 2.5), or by a level. */
export function geminiThinking({ targetModel }: Target): 'none' | 'budget' | 'level' {
  const name = bareName(targetModel);
  if (!name.startsWith('gemini-') || /^gemini-(?:1|2\.0)/.test(name)) return 'none';
  return name.startsWith('gemini-2') ? 'budget' : 'level';
}

/** In tokens; sent if a target needs a cap on output and neither the client nor the configuration sets one. */
export const defaultCap = 4_096;

/** Messages must carry a limit, whether the client sent one or not. */
export function defaultMaxTokens({ defaultMaxOutputTokens, maxOutputTokens }: TranslationContext): number {
  return defaultMaxOutputTokens ?? maxOutputTokens ?? defaultCap;
}

export function clampMaxTokens(requested: number | undefined, limit: number | undefined): number | undefined {
  if (requested === undefined || limit === undefined) return requested;
  return Math.min(requested, limit);
}
