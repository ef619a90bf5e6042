import type { HostTraits } from './traits.ts';

/** Values that differ from what most hosts accept, each with where it is from and of which month. */
export type Cells = {
  readonly [Trait in keyof HostTraits]?: readonly [value: HostTraits[Trait], source: string];
};

/** How `gateway init` sets a vendor up, and which variable a file that was found may send to it. */
interface Setup {
  readonly dialect: 'anthropic' | 'openai';
  /** The variable that its own documentation tells users to keep their key in. */
  readonly variable: string;
  /** Absent for the dialect's default. */
  readonly baseUrl?: string;
  /** Names and patterns of its models. */
  readonly models: readonly string[];
}

/**
 * One vendor's host, or one program that serves models. `vendor`: it knows its own models. `server`: a program that people
 * run themselves; `router`: it passes requests on to others. With these two the model's family decides as well.
 */
interface HostRow {
  readonly title: string;
  readonly kind: 'vendor' | 'server' | 'router';
  /** Names of its hosts; one that begins with a dot stands for all names that end so. */
  readonly names: readonly string[];
  readonly setup?: Setup;
  readonly cells: Cells;
}

const anthropicCells: Cells = {
  twoSamplings: [false, 'BerriAI/litellm#21010 and docs.anthropic.com/en/api/messages, 2026-06'],
  promptCache: ['breakpoints', 'docs.anthropic.com/en/docs/build-with-claude/prompt-caching, 2026-11'],
};

const openAiCells: Cells = {
  tokenCap: ['max_completion_tokens', 'mnfst/llm-gateway#1878, LegalQuants/lq-ai#157, 2026-06'],
  laterSystem: [true, 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  openAiOptions: [true, 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  streamUsage: [true, 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  documents: [true, 'platform.openai.com/docs/guides/pdf-files, 2026-11'],
  promptCache: ['prefix', 'platform.openai.com/docs/guides/prompt-caching, 2026-11'],
};

const streamUsage = (source: string) => ({ streamUsage: [true, source] }) as const;

/** In the order in which `gateway init` writes their models, which is that in which they are matched. */
export const hosts = {
  anthropic: {
    title: 'Anthropic',
    kind: 'vendor',
    names: ['api.anthropic.com'],
    setup: { dialect: 'anthropic', variable: 'ANTHROPIC_API_KEY', models: ['claude-*'] },
    cells: anthropicCells,
  },
  openai: {
    title: 'OpenAI',
    kind: 'vendor',
    names: ['api.openai.com', '.api.openai.com'],
    setup: {
      dialect: 'openai',
      variable: 'OPENAI_API_KEY',
      models: ['gpt-*', 'codex-*', 'o1*', 'o3*', 'o4*', 'text-embedding-*'],
    },
    cells: openAiCells,
  },
  azure: {
    title: 'Azure OpenAI and Foundry',
    kind: 'vendor',
    names: ['.openai.azure.com', '.cognitiveservices.azure.com', '.services.ai.azure.com'],
    cells: openAiCells,
  },
  gemini: {
    title: 'Google AI Studio',
    kind: 'vendor',
    names: ['generativelanguage.googleapis.com'],
    setup: {
      dialect: 'openai',
      variable: 'GEMINI_API_KEY',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      models: ['gemini-*'],
    },
    cells: {
      reasoning: [
        'extra_content',
        'openclaude#67, ai.google.dev/gemini-api/docs/thought-signatures, 2026-04',
      ],
      ...streamUsage('ai.google.dev/gemini-api/docs/openai, 2026-11'),
      promptCache: ['prefix', 'ai.google.dev/gemini-api/docs/caching, 2026-11'],
    },
  },
  mistral: {
    title: 'Mistral',
    kind: 'vendor',
    names: ['api.mistral.ai'],
    setup: {
      dialect: 'openai',
      variable: 'MISTRAL_API_KEY',
      baseUrl: 'https://api.mistral.ai/v1',
      models: ['mistral-*', 'codestral-*', 'ministral-*', 'magistral-*', 'devstral-*'],
    },
    cells: {
      reasoning: ['none', 'BerriAI/litellm#30835 and charmbracelet/crush#1590, 2026-06'],
      callIds: ['nine_characters', 'docs.mistral.ai, and zeroclaw-labs/zeroclaw#2693, 2026-03'],
      userAfterTool: [false, 'pi-neuralwatt#12, hermes-agent#20154, zed-industries/zed#37021, 2026-06'],
    },
  },
  deepseek: {
    title: 'DeepSeek',
    kind: 'vendor',
    names: ['api.deepseek.com'],
    setup: {
      dialect: 'openai',
      variable: 'DEEPSEEK_API_KEY',
      baseUrl: 'https://api.deepseek.com/v1',
      models: ['deepseek-*'],
    },
    cells: {
      reasoning: ['reasoning_content', 'api-docs.deepseek.com/guides/thinking_mode, 2026-11'],
      needsReasoning: [true, 'anomalyco/opencode#24722, deepseek-ai/deepseek-harness#739, 2026-05'],
      ...streamUsage('api-docs.deepseek.com/api/create-chat-completion, 2026-11'),
      promptCache: ['prefix', 'api-docs.deepseek.com/guides/kv_cache, 2026-11'],
    },
  },
  moonshot: {
    title: 'Moonshot AI (Kimi)',
    kind: 'vendor',
    names: ['api.moonshot.ai', 'api.moonshot.cn', 'api.kimi.com'],
    setup: {
      dialect: 'openai',
      variable: 'MOONSHOT_API_KEY',
      baseUrl: 'https://api.moonshot.ai/v1',
      models: ['kimi-*', 'moonshot-*'],
    },
    cells: {
      reasoning: ['reasoning_content', 'bytedance/deer-flow#3043, 2026-05'],
      needsReasoning: [true, 'QuantumNous/new-api#3121, continuedev/continue#11711, 2026-03'],
      promptCache: ['prefix', 'platform.moonshot.ai/docs, 2026-11'],
    },
  },
  xai: {
    title: 'xAI',
    kind: 'vendor',
    names: ['api.x.ai', '.api.x.ai'],
    setup: { dialect: 'openai', variable: 'XAI_API_KEY', baseUrl: 'https://api.x.ai/v1', models: ['grok-*'] },
    cells: streamUsage('docs.x.ai, 2026-11'),
  },
  groq: {
    title: 'Groq',
    kind: 'router',
    names: ['api.groq.com'],
    cells: streamUsage('console.groq.com/docs/api-reference, 2026-11'),
  },
  together: {
    title: 'Together',
    kind: 'router',
    names: ['api.together.xyz', 'api.together.ai'],
    cells: streamUsage('docs.together.ai, 2026-11'),
  },
  fireworks: {
    title: 'Fireworks',
    kind: 'router',
    names: ['api.fireworks.ai'],
    cells: streamUsage('docs.fireworks.ai, 2026-11'),
  },
  openrouter: {
    title: 'OpenRouter',
    kind: 'router',
    names: ['openrouter.ai'],
    setup: {
      dialect: 'openai',
      variable: 'OPENROUTER_API_KEY',
      baseUrl: 'https://openrouter.ai/api/v1',
      models: ['*/*'],
    },
    cells: {
      reasoning: ['reasoning', 'openrouter.ai/docs/use-cases/reasoning-tokens, 2026-11'],
      ...streamUsage('openrouter.ai/docs/use-cases/usage-accounting, 2026-11'),
    },
  },
  zai: {
    title: 'Z.ai (GLM)',
    kind: 'vendor',
    names: ['api.z.ai', 'open.bigmodel.cn'],
    cells: {
      reasoning: ['reasoning_content', 'docs.z.ai/guides/capabilities/thinking-mode, 2026-11'],
    },
  },
  minimax: {
    title: 'MiniMax',
    kind: 'vendor',
    names: ['api.minimax.io', 'api.minimaxi.com'],
    cells: { reasoning: ['reasoning_content', 'PrimeIntellect-ai/verifiers#575, 2025-11'] },
  },
  qwen: {
    title: 'Qwen (DashScope)',
    kind: 'vendor',
    names: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
    cells: streamUsage('help.aliyun.com/zh/model-studio, 2026-11'),
  },
  bedrock: {
    title: 'Amazon Bedrock',
    kind: 'vendor',
    names: [],
    cells: anthropicCells,
  },
  vertex: {
    title: 'Vertex AI',
    kind: 'vendor',
    names: [],
    cells: {
      ...anthropicCells,
      hasCallIds: [false, 'vercel/ai#15664, langchainjs#11209, charmbracelet/fantasy#265, 2026-07'],
    },
  },
  ollama: {
    title: 'Ollama',
    kind: 'server',
    names: [],
    cells: streamUsage('docs.ollama.com/api/openai-compatibility, 2026-11'),
  },
  lmstudio: {
    title: 'LM Studio',
    kind: 'server',
    names: [],
    cells: streamUsage('lmstudio.ai/docs/developer/openai-compat, 2026-11'),
  },
  vllm: {
    title: 'vLLM',
    kind: 'server',
    names: [],
    cells: {
      reasoning: ['reasoning', 'vllm-project/vllm#27755 and #33402, vllm-project/router#115, 2026-03'],
      ...streamUsage('docs.vllm.ai/en/stable/serving/openai_compatible_server, 2026-11'),
    },
  },
  sglang: {
    title: 'SGLang',
    kind: 'server',
    names: [],
    cells: streamUsage('docs.sglang.ai, 2026-11'),
  },
  llamacpp: {
    title: 'llama.cpp',
    kind: 'server',
    names: [],
    cells: {
      reasoning: ['reasoning_content', 'ggml-org/llama.cpp tools/server/README.md, 2026-11'],
      ...streamUsage('ggml-org/llama.cpp tools/server/README.md, 2026-11'),
    },
  },
  tgi: {
    title: 'TGI',
    kind: 'server',
    names: [],
    cells: streamUsage('huggingface.co/docs/text-generation-inference, 2026-11'),
  },
  litellm: {
    title: 'LiteLLM',
    kind: 'router',
    names: [],
    cells: streamUsage('docs.litellm.ai/docs/completion/usage, 2026-11'),
  },
} as const satisfies Readonly<Record<string, HostRow>>;

export type HostName = keyof typeof hosts;

/** The vendors that can be set up with a key, by the names that their providers get. */
export function vendorSetups(): readonly (readonly [name: HostName, setup: Setup])[] {
  return (Object.keys(hosts) as HostName[]).flatMap((name) => {
    const row: HostRow = hosts[name];
    return row.setup === undefined ? [] : [[name, row.setup] as const];
  });
}

/** Families of models whose chat templates and vendors want the same wherever they run. */
export const modelFamilies: readonly {
  readonly name: string;
  readonly match: RegExp;
  readonly cells: Cells;
}[] = [
  {
    name: "OpenAI's reasoning models",
    match: /^(?:o[134]|gpt-[5-9]|codex)(?!.*-chat)/,
    cells: { tokenCap: ['max_completion_tokens', 'opencode#37964, LegalQuants/lq-ai#157, 2026-07'] },
  },
  {
    name: 'DeepSeek from V3.2 on, Kimi from K2 on',
    match: /^(?:deepseek-(?:v?(?:3\.[2-9]|[4-9])|reasoner|chat|flash|pro)|kimi-)/,
    cells: {
      reasoning: ['reasoning_content', 'anomalyco/opencode#24722, QuantumNous/new-api#3121, 2026-05'],
      needsReasoning: [true, 'labring/FastGPT#6357 (the same at other hosts of the model), 2026-02'],
    },
  },
  {
    name: 'GLM, MiniMax, Qwen 3, gpt-oss',
    match: /^(?:glm-|minimax-|qwen-?3|gpt-oss)/,
    cells: { reasoning: ['reasoning_content', 'vllm-project/vllm#28531, jundot/omlx#884, 2026-04'] },
  },
  {
    name: "Mistral's",
    match: /^(?:open-)?(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral)/,
    cells: {
      callIds: ['nine_characters', 'Mistral templates in vllm and transformers; hermes-agent#20154, 2026-05'],
      userAfterTool: [false, 'pi-neuralwatt#12, hermes-agent#20154, zed-industries/zed#37021, 2026-06'],
    },
  },
];
