import { bareName, type Host, type HostedModel, traitsOf } from './find-host.ts';
import { openAiReasoning } from './registry.ts';

/** How much a model is to think before it answers, from least to most. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof efforts)[number];

interface EffortRow {
  readonly match: RegExp;
  /** Where it is so, if not everywhere. */
  readonly hosts?: readonly Host[];
  readonly efforts: readonly Effort[];
  readonly source: string;
}

/** The efforts that a model takes; the first row that matches holds. */
const effortRows: readonly EffortRow[] = [
  {
    match: /^claude-(?:opus-4-5|opus-4-[012]|sonnet-4-5|haiku-4)/,
    efforts: ['none', 'low', 'medium', 'high'],
    source: 'gajae-code#3913, CLIProxyAPI#5488, 2026-09',
  },
  {
    match: /^claude-(?:opus|sonnet)-4-6/,
    efforts: ['none', 'low', 'medium', 'high', 'max'],
    source: 'gajae-code#3913, CLIProxyAPI#5488, 2026-09',
  },
  {
    match: /^claude-/,
    efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
    source: 'docs.anthropic.com/en/docs/build-with-claude/effort, 2026-11',
  },
  {
    match: /^gemini-3-pro/,
    efforts: ['low', 'high'],
    source: 'GoModel#862, proxypal#170, 2026-09',
  },
  {
    match: /^gemini-3\.(?:1-pro|8-flash)/,
    efforts: ['low', 'medium', 'high'],
    source: 'GoModel#862, chatwise#1206, pi#3460, 2026-09',
  },
  {
    match: /^gemini-2\.5-pro/,
    efforts: ['minimal', 'low', 'medium', 'high'],
    source: 'ai.google.dev/gemini-api/docs/thinking (it can not be switched off), 2026-11',
  },
  {
    match: /^gemini-2/,
    efforts: ['none', 'minimal', 'low', 'medium', 'high'],
    source: 'ai.google.dev/gemini-api/docs/thinking, 2026-11',
  },
  {
    match: /^gemini-/,
    efforts: ['minimal', 'low', 'medium', 'high'],
    source: 'ai.google.dev/gemini-api/docs/thinking, 2026-11',
  },
  {
    match: /^(?:o[134]|gpt-oss|codex-mini)/,
    efforts: ['low', 'medium', 'high'],
    source: 'platform.openai.com/docs/guides/reasoning, 2026-11',
  },
  {
    match: /^gpt-5-pro/,
    efforts: ['high'],
    source: 'anomalyco/opencode#3474 and #26268, anomalyco/models.dev#331, 2026-05',
  },
  {
    match: /^gpt-5\.\d+-pro/,
    efforts: ['medium', 'high', 'xhigh'],
    source: 'anomalyco/models.dev#2296, eyaltoledano/claude-task-master#1508, 2026-06',
  },
  {
    match: /^gpt-5\.1-codex-max/,
    efforts: ['low', 'medium', 'high', 'xhigh'],
    source: 'ben-vargas/ai-sdk-provider-codex-cli#8, vercel/ai#11056, 2025-12',
  },
  {
    match: /^gpt-5\.1-codex-mini/,
    efforts: ['medium', 'high'],
    source: 'ben-vargas/ai-sdk-provider-codex-cli#8, router-for-me/CLIProxyAPI#249, 2025-11',
  },
  {
    match: /^gpt-5(?:\.1)?-codex/,
    efforts: ['low', 'medium', 'high'],
    source: 'openai/codex#6647, CherryHQ/cherry-studio#10430, anomalyco/opencode#26268, 2026-05',
  },
  {
    match: /^gpt-5\.\d+-codex/,
    efforts: ['low', 'medium', 'high', 'xhigh'],
    source: 'anomalyco/models.dev#2296, 2026-06',
  },
  {
    match: /^gpt-5(?:-|$)(?!.*chat)/,
    efforts: ['minimal', 'low', 'medium', 'high'],
    source: 'platform.openai.com/docs/guides/reasoning, 2026-11',
  },
  {
    match: /^gpt-5\.1(?:-|$)(?!.*chat)/,
    efforts: ['none', 'low', 'medium', 'high'],
    source: 'platform.openai.com/docs/guides/reasoning, 2026-11',
  },
  {
    match: /^gpt-(?:[6-9]|\d\d)(?!.*-chat)/,
    // Its Responses have `max` too.
    efforts: ['low', 'medium', 'high', 'xhigh'],
    source: 'BerriAI/litellm-docs#1173, UKGovernmentBEIS/inspect_ai#5254, 2026-09',
  },
  {
    match: /^(?:gpt-5\.|codex)(?!.*-chat)/,
    efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    source: 'platform.openai.com/docs/guides/reasoning, 2026-11',
  },
  {
    hosts: ['azure'],
    match: /^deepseek-(?:v[4-9]|flash|pro)/,
    efforts: ['low', 'medium', 'high'],
    source: 'earendil-works/pi#9645, 2026-09',
  },
  {
    match: /^deepseek-(?:v[4-9]|flash|pro)/,
    efforts: ['low', 'high', 'max'],
    source: 'api-docs.deepseek.com/guides/thinking_mode, 2026-11',
  },
  {
    match: /^kimi-k(?:[3-9]|\d\d)/,
    efforts: ['low', 'high', 'max'],
    source: 'platform.kimi.ai/docs/guide/use-thinking-effort, docs.rs/synaps-engine 0.11, 2026-11',
  },
  {
    match: /^grok-(?:4\.[3-9]|[5-9])/,
    efforts: ['none', 'low', 'medium', 'high'],
    source: 'docs.x.ai/docs/guides/reasoning, @ai-sdk/xai 4.0 change log, 2026-11',
  },
  {
    match: /^mistral-(?:small-(?:latest|2603)|medium-3-5)/,
    efforts: ['none', 'high'],
    source: 'docs.mistral.ai/capabilities/reasoning/adjustable, 2026-11',
  },
  {
    match: /^glm-5\.(?:[3-9]|\d\d)/,
    efforts: ['low', 'high', 'max'],
    source: 'dev.to/aihubmix (GLM-5.3), docs.together.ai/docs/glm-5.3-quickstart, 2026-08',
  },
  {
    match: /^glm-5\.2/,
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    source: 'nesquena/hermes-webui exp-v0.52.105, 2026-07',
  },
];

function effortsOf({ host, targetModel }: HostedModel): readonly Effort[] | undefined {
  const name = bareName(targetModel);
  return effortRows.find(({ match, hosts }) => match.test(name) && (hosts?.includes(host) ?? true))?.efforts;
}

/**
 * The effort that the model has and that is nearest to the wanted one from below; its smallest if it has none below. Who
 * wants some thinking gets some. A model without a row has all of them.
 */
export function nearestEffort(wanted: Effort, model: HostedModel): Effort {
  const all = effortsOf(model) ?? efforts;
  const taken = wanted === 'none' ? all : all.filter((effort) => effort !== 'none');
  const below = taken.filter((effort) => efforts.indexOf(effort) <= efforts.indexOf(wanted));
  return below.at(-1) ?? taken[0] ?? wanted;
}

function startsWithAny(name: string, starts: readonly string[]): boolean {
  return starts.some((start) => name.startsWith(start));
}

/** Of OpenAI's reasoning models, which encrypt their reasoning. */
export function isOpenAiReasoningModel({ targetModel }: Pick<HostedModel, 'targetModel'>): boolean {
  return openAiReasoning.test(bareName(targetModel));
}

// Other hosts answer 400 to an effort for a model that can't reason (Ollama does), so only names known to take it.
export function takesReasoningEffort(model: HostedModel): boolean {
  return traitsOf(model).takesEffort && effortsOf(model) !== undefined;
}

/** Models of open weights and their vendors' that can do without thinking; Kimi's and GLM's newest can't. */
const withoutThought =
  /^(?:kimi-k2\.[56]|deepseek-(?:v(?:3\.[12]|[4-9])|chat|flash|pro)|glm-(?:4\.[56]|5(?:\.[12])?(?![\d.]))|qwen(?!.*thinking))/;

/** Whether the host can be asked to let the model answer without thinking. */
export function canStopThinking(model: HostedModel): boolean {
  return traitsOf(model).thinkingSwitch !== 'none' && withoutThought.test(bareName(model.targetModel));
}

const claudeHosts: readonly Host[] = ['anthropic', 'bedrock', 'vertex'];

function isClaude({ host, targetModel }: HostedModel): boolean {
  return claudeHosts.includes(host) || bareName(targetModel).startsWith('claude');
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

/** What a translated effort becomes for a model whose thinking has a budget, in tokens. */
export const thinkingBudgets = {
  ...{ minimal: 2_048, low: 2_048, medium: 8_192 },
  ...{ high: 16_384, xhigh: 16_384, max: 16_384 },
} satisfies Partial<Record<Effort, number>>;

export const maxThinkingBudget = Math.max(...Object.values(thinkingBudgets));

/** How a Claude model's thinking is controlled: not at all, by a token budget (older ones), or by an effort level. */
export function thinkingControl(model: HostedModel): 'none' | 'budget' | 'effort' {
  const name = bareName(model.targetModel);
  if (!isClaude(model) || startsWithAny(name, withoutThinking)) return 'none';
  return startsWithAny(name, withBudget) ? 'budget' : 'effort';
}

/** Whether temperature and top_p may be set at all. */
export function takesSampling(model: HostedModel): boolean {
  return traitsOf(model).sampling !== 'none';
}

/** How a Gemini model's thinking is controlled: not at all, by a token budget (version 2.5), or by a level. */
export function geminiThinking({
  targetModel,
}: Pick<HostedModel, 'targetModel'>): 'none' | 'budget' | 'level' {
  const name = bareName(targetModel);
  if (!name.startsWith('gemini-') || /^gemini-(?:1|2\.0)/.test(name)) return 'none';
  return name.startsWith('gemini-2') ? 'budget' : 'level';
}
