import type { HostTraits } from './traits.ts';

/** Values that differ from what most hosts accept, each with its source and month. */
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
export interface HostRow {
  readonly title: string;
  readonly kind: 'vendor' | 'server' | 'router';
  /** Names of its hosts; one that begins with a dot stands for all names that end so. */
  readonly names: readonly string[];
  /** The port by which it is known on this machine, if no other program usually has it. */
  readonly port?: number;
  readonly setup?: Setup;
  readonly cells: Cells;
  /** What is otherwise for some of its models. */
  readonly models?: ModelCells;
}

/** Models by their bare names; of several that match, the last counts. */
type ModelCells = readonly { readonly match: RegExp; readonly cells: Cells }[];

/** The names of OpenAI's models that reason. */
export const openAiReasoning = /^(?:o[134]|codex|gpt-(?:[5-9]|\d\d))(?!.*-chat)/;

/** The media types of pictures that most vendors take. */
export const usualImages = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;
const googleImages = ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'] as const;

/** Claude's that take a temperature or top_p. */
const claudeWithSampling = /^claude-(?:3|opus-4-[0-6](?!\d)|(?:opus|sonnet)-4-2025|sonnet-4|haiku-4)/;

const claudeCells: Cells = {
  sampling: ['none', 'docs.anthropic.com/en/api/messages, BerriAI/litellm#21010, 2026-06'],
  lastAssistant: [false, 'ericc-ch/copilot-api#261, cortexkit/magic-context#511, 2026-09'],
};

const anthropicCells: Cells = {
  ...claudeCells,
  images: [usualImages, 'docs.anthropic.com/en/docs/build-with-claude/vision, 2026-11'],
  formats: [['schema'], 'docs.anthropic.com/en/docs/build-with-claude/structured-outputs, 2026-11'],
  promptCache: ['breakpoints', 'docs.anthropic.com/en/docs/build-with-claude/prompt-caching, 2026-11'],
};

const earlierClaude: ModelCells = [
  {
    match: claudeWithSampling,
    cells: { sampling: ['one', 'BerriAI/litellm#21010, 2026-06'] },
  },
  {
    match: /^claude-(?:3|[a-z]+-4-(?:[0-5](?!\d)|2025))/,
    cells: { lastAssistant: [true, 'ericc-ch/copilot-api#261, 2026-06'] },
  },
];

const claudeModels: ModelCells = [
  ...earlierClaude,
  {
    match: /^claude-(?:3|[a-z]+-4-(?:0|2025))/,
    cells: { formats: [[], 'api7/aisix#1188, 2026-09'] },
  },
];

const openAiCells: Cells = {
  tokenCap: ['max_completion_tokens', 'mnfst/llm-gateway#1878, LegalQuants/lq-ai#157, 2026-06'],
  laterSystem: [true, 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  openAiOptions: [true, 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  takesEffort: [true, 'platform.openai.com/docs/guides/reasoning, 2026-11'],
  streamUsage: ['asked', 'platform.openai.com/docs/api-reference/chat/create, 2026-11'],
  images: [usualImages, 'platform.openai.com/docs/guides/images-vision, 2026-11'],
  documents: [true, 'platform.openai.com/docs/guides/pdf-files, 2026-11'],
  promptCache: ['prefix', 'platform.openai.com/docs/guides/prompt-caching, 2026-11'],
};

/** OpenAI's models that reason, whoever has them. */
const reasoningGpt = {
  match: openAiReasoning,
  cells: {
    tokenCap: ['max_completion_tokens', 'opencode#37964, LegalQuants/lq-ai#157, 2026-07'],
    takesEffort: [true, 'platform.openai.com/docs/guides/reasoning, 2026-11'],
    sampling: ['none', 'platform.openai.com/docs/guides/reasoning, BerriAI/litellm#13781, 2026-11'],
  },
} as const satisfies ModelCells[number];

const earlierGpt: ModelCells[number] = {
  match: /^(?:o[134]|codex|gpt-5(?:$|-|\.[0-4](?!\d)))(?!.*-chat)/,
  cells: {
    stopSequences: [
      false,
      'huggingface/smolagents#1893, crewAIInc/crewAI#5144, BerriAI/litellm#28650 (taken from GPT-5.5 on), 2026-05',
    ],
  },
};

/** The same at OpenAI and Azure, which don't make up for what their Chat lacks, as routers do. */
const gptModels: ModelCells = [
  {
    match: openAiReasoning,
    cells: {
      ...reasoningGpt.cells,
      reasonsIn: [
        'responses',
        'BerriAI/litellm#14748 and #23926, openai/openai-openapi#541, jeffdafoe/llm-memory-api#178, 2026-05',
      ],
    },
  },
  earlierGpt,
  {
    match: /^gpt-(?:5\.(?:[2-9]|\d\d)|[6-9]|\d\d)(?!.*-chat)/,
    cells: {
      reasonsBesideTools: [
        false,
        'openai/openai-openapi#541, livekit/agents#5088, BerriAI/litellm#34569, can1357/oh-my-pi#11052 (Azure), 2026-09',
      ],
    },
  },
];

const oldGemini: ModelCells[number] = {
  match: /^gemini-[12]/,
  cells: { formatsWithTools: [false, 'vercel/ai#16540, googleapis/python-genai#867, 2026-07'] },
};

const mistralNames = /^(?:open-)?(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral)/;

const ofNoOtherVendor = new RegExp(
  `^(?!deepseek|kimi|glm|minimax|qwen|grok|llama|meta|phi|cohere|command|mai-|gpt-oss|claude|${mistralNames.source.slice(1)})`,
);

const streamUsage = (source: string) => ({ streamUsage: ['asked', source] }) as const;

/** In the order in which `gateway init` writes their models, which is that in which they are matched. */
export const hosts = {
  anthropic: {
    title: 'Anthropic',
    kind: 'vendor',
    names: ['api.anthropic.com'],
    setup: { dialect: 'anthropic', variable: 'ANTHROPIC_API_KEY', models: ['claude-*'] },
    cells: anthropicCells,
    models: claudeModels,
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
    models: gptModels,
  },
  azure: {
    title: 'Azure OpenAI and Foundry',
    // It has models of other vendors too, behind the same names.
    kind: 'router',
    names: [
      ...['.openai.azure.com', '.cognitiveservices.azure.com', '.services.ai.azure.com'],
      ...['.openai.azure.us', '.cognitiveservices.azure.us', '.services.ai.azure.us'],
    ],
    cells: streamUsage('learn.microsoft.com/azure/ai-foundry/openai/reference, 2026-11'),
    models: [
      // A deployment of one of OpenAI's models may have any name.
      { match: ofNoOtherVendor, cells: openAiCells },
      ...gptModels,
      { match: /claude/, cells: anthropicCells },
      ...claudeModels,
      {
        match: /^deepseek-(?:v[4-9]|flash|pro)/,
        cells: {
          takesEffort: [
            true,
            'earendil-works/pi#9645, esengine/DeepSeek-Reasonix#1299 (it refuses `thinking`), 2026-09',
          ],
        },
      },
      {
        match: /^grok-(?:4\.[3-9]|[5-9])/,
        cells: { takesEffort: [true, 'theopenco/llmgateway#3436 and #3438, 2026-08'] },
      },
      {
        match: mistralNames,
        cells: {
          endUser: [
            false,
            'pydantic/pydantic-ai#6593, BerriAI/litellm#26322 (it refuses what it does not know), 2026-07',
          ],
          streamUsage: ['always', 'BerriAI/litellm#11696, 2025-06'],
        },
      },
    ],
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
      takesEffort: [true, 'ai.google.dev/gemini-api/docs/openai, 2026-11'],
      endUser: [
        false,
        'n4ze3m/page-assist#418, IBM/AI-SDK-Db2-IBMi#32 (strict about fields that it does not know), 2026-08',
      ],
      ...streamUsage('ai.google.dev/gemini-api/docs/openai, 2026-11'),
      schemas: ['google', 'QwenLM/qwen-code#1186, theopenco/llmgateway#1763, 2026-02'],
      images: [
        googleImages,
        'ai.google.dev/gemini-api/docs/image-understanding, microsoft/vscode#286628, 2026-01',
      ],
      promptCache: ['prefix', 'ai.google.dev/gemini-api/docs/caching, 2026-11'],
    },
    models: [oldGemini],
  },
  mistral: {
    title: 'Mistral',
    kind: 'vendor',
    names: ['api.mistral.ai', 'codestral.mistral.ai'],
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
      takesEffort: [true, 'docs.mistral.ai/capabilities/reasoning/adjustable, 2026-11'],
      endUser: [
        false,
        'BerriAI/litellm#30882, mistralai/platform-docs-public openapi.yaml (it refuses fields that are not there), 2026-06',
      ],
      streamUsage: [
        'always',
        'openai/openai-agents-python#442, avante-corp/avante.nvim#2347, vybestack/llxprt-code#114, 2025-08',
      ],
      images: [usualImages, 'docs.mistral.ai/capabilities/vision, 2026-11'],
      lastAssistant: [false, 'huggingface/smolagents#757, microsoft/autogen#5044, 2025-02'],
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
      takesEffort: [true, 'api-docs.deepseek.com/guides/thinking_mode, 2026-11'],
      thinkingSwitch: ['thinking', 'api-docs.deepseek.com/guides/thinking_mode, 2026-11'],
      toolChoices: [
        'not_forced_while_thinking',
        'deepseek-ai/DeepSeek-V3#1376, BerriAI/litellm#37470, osaurus-ai/osaurus#1940, 2026-08',
      ],
      ...streamUsage('api-docs.deepseek.com/api/create-chat-completion, 2026-11'),
      images: [[], 'rikkahub/rikkahub#1433, BenedictKing/ccx#95, nesquena/hermes-webui#2297, 2026-07'],
      formats: [['json'], 'UKGovernmentBEIS/inspect_ai#4916, BerriAI/litellm#31466, 2026-08'],
      promptCache: ['prefix', 'api-docs.deepseek.com/guides/kv_cache, 2026-11'],
    },
    models: [{ match: /vision/, cells: { images: ['any', 'Prism-Shadow/agenthub#192, 2026-08'] } }],
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
      takesEffort: [true, 'platform.kimi.ai/docs/guide/use-thinking-effort, 2026-11'],
      thinkingSwitch: ['thinking', 'platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model, 2026-11'],
      toolChoices: ['not_forced_while_thinking', 'can1357/oh-my-pi#1077, bestruirui/octopus#251, 2026-05'],
      schemas: [
        'typed_unions',
        'MoonshotAI/kimi-code#2661, abhigyanpatwari/GitNexus#2703, yilewang/llm-for-zotero#416, 2026-09',
      ],
      imageUrls: [
        false,
        'OpenHands/software-agent-sdk#3155, HeyPuter/puter#2931, platform.kimi.ai/docs/guide/use-kimi-vision-model, 2026-05',
      ],
      sampling: [
        'none',
        'google-gemini/gemini-cli#18977, Warma10032/VideoAdGuard#34, platform.kimi.ai/docs, 2026-08',
      ],
      promptCache: ['prefix', 'platform.moonshot.ai/docs, 2026-11'],
    },
    models: [
      {
        match: /^moonshot-/,
        cells: {
          sampling: ['both', 'platform.kimi.ai/docs/api/chat, 2026-11'],
          toolChoices: ['any', 'can1357/oh-my-pi#1077 (only of models that think), 2026-05'],
        },
      },
      {
        match: /^kimi-k(?:[3-9]|\d\d)/,
        cells: {
          toolChoices: ['any', 'pkg.go.dev/github.com/firebase/genkit/go/plugins/compat_oai/kimi, 2026-08'],
        },
      },
    ],
  },
  xai: {
    title: 'xAI',
    kind: 'vendor',
    names: ['api.x.ai', '.api.x.ai'],
    setup: { dialect: 'openai', variable: 'XAI_API_KEY', baseUrl: 'https://api.x.ai/v1', models: ['grok-*'] },
    cells: {
      takesEffort: [true, 'docs.x.ai/docs/guides/reasoning, @ai-sdk/xai 4.0 change log, 2026-11'],
      ...streamUsage('docs.x.ai, 2026-11'),
      images: [['image/jpeg', 'image/png'], 'docs.x.ai/docs/guides/image-understanding, 2026-11'],
      stopSequences: [
        false,
        'lidge-jun/opencodex#5278, langchain-ai/langchain#38335, BerriAI/litellm-docs#817, 2026-09',
      ],
      promptCache: ['prefix', 'docs.x.ai/docs/models (cached prompt tokens), 2026-11'],
    },
    models: [
      {
        match: /non-reasoning/,
        cells: { stopSequences: [true, 'langchain-ai/langchain#38335, 2026-06'] },
      },
    ],
  },
  groq: {
    title: 'Groq',
    kind: 'router',
    names: ['api.groq.com'],
    cells: {
      reasoning: ['none', 'janhq/jan#8136, tashfeenahmed/freellmapi#1070, vercel/ai#8057, 2026-09'],
      formatsWithTools: [false, 'vercel/ai#16540, 2026-07'],
      ...streamUsage('console.groq.com/docs/api-reference, 2026-11'),
    },
  },
  cerebras: {
    title: 'Cerebras',
    kind: 'router',
    names: ['api.cerebras.ai'],
    cells: {
      reasoning: ['none', 'Kilo-Org/kilocode#10375, anomalyco/opencode#33413, 2026-06'],
      ...streamUsage('CherryHQ/cherry-studio#16790, 2026-07'),
    },
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
    cells: {
      ...streamUsage('docs.fireworks.ai, 2026-11'),
      documents: [false, 'langchain-ai/langchain#38388, BerriAI/litellm#30885, 2026-06'],
    },
  },
  openrouter: {
    title: 'OpenRouter',
    kind: 'router',
    names: ['openrouter.ai', 'eu.openrouter.ai'],
    setup: {
      dialect: 'openai',
      variable: 'OPENROUTER_API_KEY',
      baseUrl: 'https://openrouter.ai/api/v1',
      models: ['*/*'],
    },
    cells: {
      reasoning: [
        'reasoning_details',
        'musistudio/claude-code-router#1057, RooCodeInc/Roo-Code#10307, openrouter.ai/docs/use-cases/reasoning-tokens, 2026-03',
      ],
      ...streamUsage('openrouter.ai/docs/use-cases/usage-accounting, 2026-11'),
      documents: [true, 'openrouter.ai/docs/features/multimodal/pdfs, 2026-11'],
    },
  },
  zai: {
    title: 'Z.ai (GLM)',
    kind: 'vendor',
    names: ['api.z.ai', 'open.bigmodel.cn'],
    cells: {
      reasoning: ['reasoning_content', 'docs.z.ai/guides/capabilities/thinking-mode, 2026-11'],
      takesEffort: [
        true,
        'docs.z.ai/guides/capabilities/thinking-mode, nesquena/hermes-webui exp-v0.52.105, 2026-07',
      ],
      thinkingSwitch: ['thinking', 'docs.z.ai/guides/capabilities/thinking-mode, 2026-11'],
      toolChoices: ['auto', 'java.agentscope.io/v2/en/integration/model/glm, 2026-11'],
      streamUsage: ['always', 'java.agentscope.io/v2/en/integration/model/glm, 2026-11'],
      images: [
        [],
        'TriDefender/zcode-api#26, BigPizzaV3/CodexPlusPlus#1760, DayuanJiang/next-ai-draw-io#656, 2026-08',
      ],
      formats: [['json'], 'docs.z.ai/guides/capabilities/struct-output, BerriAI/litellm#37720, 2026-08'],
    },
    models: [
      {
        match: /^glm-(?:[\d.]+v|5\.3-flash)/,
        cells: { images: ['any', 'Prism-Shadow/agenthub#192, docs.z.ai/guides/vlm, 2026-08'] },
      },
    ],
  },
  minimax: {
    title: 'MiniMax',
    kind: 'vendor',
    names: ['api.minimax.io', 'api.minimaxi.com', 'api.minimax.chat'],
    cells: {
      reasoning: ['reasoning_content', 'PrimeIntellect-ai/verifiers#575, 2025-11'],
      laterSystem: [false, 'BigPizzaV3/CodexPlusPlus#267, 2026-05'],
      formats: [[], 'MiniMax-AI/MiniMax-M2.5#4, decolua/9router#817, 2026-04'],
    },
  },
  qwen: {
    title: 'Qwen (DashScope)',
    // It has models of DeepSeek, Kimi, GLM and MiniMax too.
    kind: 'router',
    names: [
      ...['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
      ...['.dashscope.aliyuncs.com', '.maas.aliyuncs.com'],
    ],
    cells: {
      thinkingSwitch: [
        'enable_thinking',
        'help.aliyun.com/en/model-studio/deep-thinking, cloudwego/eino#994, 2026-04',
      ],
      toolChoices: ['not_forced_while_thinking', 'cloudwego/eino#994, QwenLM/qwen-code#7659, 2026-07'],
      openAiOptions: [false, 'proma-ai/Proma#1496, openclaw/openclaw#22710, 2026-08'],
      ...streamUsage('help.aliyun.com/zh/model-studio, 2026-11'),
      documents: [false, 'QwenLM/qwen-code#1838, Kiln-AI/Kiln#649, 2026-02'],
    },
  },
  bedrock: {
    title: 'Amazon Bedrock',
    kind: 'vendor',
    names: [],
    cells: {
      ...anthropicCells,
      imageUrls: [false, 'BerriAI/litellm#18497 (Bedrock has its pictures inside of requests too), 2026-01'],
    },
    models: [
      ...claudeModels,
      {
        match: /^claude-(?:opus-4-7|[a-z]+-[5-9])/,
        cells: { formats: [[], 'anomalyco/models.dev#1765, truefoundry/models#2470, 2026-05'] },
      },
    ],
  },
  vertex: {
    title: 'Vertex AI',
    // It has open models of other vendors too.
    kind: 'router',
    names: [],
    cells: {
      images: [
        googleImages,
        'docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding, 2026-11',
      ],
      hasCallIds: [false, 'vercel/ai#15664, langchainjs#11209, charmbracelet/fantasy#265, 2026-07'],
      promptCache: ['prefix', 'docs.cloud.google.com/vertex-ai/generative-ai/docs/context-cache, 2026-11'],
    },
    models: [
      {
        match: /^claude/,
        cells: {
          ...anthropicCells,
          imageUrls: [
            false,
            'anthropics/anthropic-sdk-typescript#1038, BerriAI/litellm#18430, langchain-google#1088, 2026-05',
          ],
          formats: [[], 'Portkey-AI/gateway#1570, anthropics/anthropic-sdk-python#1188, 2026-03'],
        },
      },
      ...claudeModels,
      {
        // By its OpenAI endpoint.
        match: /^gemini/,
        cells: {
          reasoning: ['extra_content', '1jehuang/jcode#1040, earendil-works/pi#294, 2026-08'],
          takesEffort: [true, 'docs.cloud.google.com/vertex-ai/generative-ai/docs/start/openai, 2026-11'],
          schemas: ['google', 'decolua/9router#388, 2026-03'],
        },
      },
      oldGemini,
    ],
  },
  ollama: {
    title: 'Ollama',
    kind: 'server',
    names: ['ollama.com'],
    port: 11_434,
    cells: {
      ...streamUsage('docs.ollama.com/api/openai-compatibility, 2026-11'),
      reasoning: [
        'reasoning',
        'ollama/ollama openai/openai.go (FromChatRequest), ollama/ollama#18534, 2026-11',
      ],
      schemas: ['no_patterns', 'containers/kubernetes-mcp-server#758, 2026-02'],
      images: [
        ['image/jpeg', 'image/png', 'image/webp'],
        'ollama/ollama openai/openai.go (FromChatRequest), 2026-11',
      ],
      imageUrls: [false, 'ollama/ollama#6753, docs.ollama.com/api/openai-compatibility, 2026-05'],
      contentBesideCalls: [
        '',
        'pydantic/pydantic-ai#5206, Kuberwastaken/claurst#118, QwenLM/qwen-code#3421, 2026-04',
      ],
    },
  },
  lmstudio: {
    title: 'LM Studio',
    kind: 'server',
    names: [],
    port: 1_234,
    cells: {
      ...streamUsage('lmstudio.ai/docs/developer/openai-compat, 2026-11'),
      schemas: ['no_patterns', 'containers/kubernetes-mcp-server#758, 2026-02'],
      formats: [['schema'], 'lmstudio-ai/lmstudio-bug-tracker#189, bhimrazy/receipt-ocr#20, 2025-10'],
    },
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
      schemas: [
        'no_patterns',
        'openclaw/openclaw#113562, aebrer/dreb#422, kubernetes-mcp-server#758, 2026-07',
      ],
      lastAssistant: [false, 'ggml-org/llama.cpp#20861 and #21889 (of models that think), 2026-04'],
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

/** What unrecognized programs on this machine take: most of them are built on llama.cpp. */
export const localCells: Cells = {
  ...streamUsage('llama.cpp, LM Studio, Ollama and vLLM, as in their rows, 2026-11'),
  schemas: hosts.llamacpp.cells.schemas,
  lastAssistant: hosts.llamacpp.cells.lastAssistant,
  contentBesideCalls: hosts.ollama.cells.contentBesideCalls,
};

/** The vendors that can be set up with a key, by the names that their providers get. */
export function vendorSetups(): readonly (readonly [name: HostName, setup: Setup])[] {
  return (Object.keys(hosts) as HostName[]).flatMap((name) => {
    const row: HostRow = hosts[name];
    return row.setup === undefined ? [] : [[name, row.setup] as const];
  });
}

/** Families of models whose chat templates and vendors want the same wherever they run; the last that matches counts. */
export const modelFamilies: readonly {
  readonly name: string;
  readonly match: RegExp;
  readonly cells: Cells;
}[] = [
  { name: "OpenAI's reasoning models", ...reasoningGpt },
  { name: "OpenAI's before GPT-5.5", ...earlierGpt },
  { name: 'Claude', match: /^claude/, cells: claudeCells },
  ...earlierClaude.map((model) => ({ name: `Claude's ${model.match.source}`, ...model })),
  {
    name: "xAI's",
    match: /^grok-(?!.*non-reasoning)/,
    cells: { stopSequences: [false, 'huggingface/smolagents#1766 (at Oracle), 2025-09'] },
  },
  {
    name: 'DeepSeek from V3.2 on, Kimi from K2 on',
    match: /^(?:deepseek-(?:v?(?:3\.[2-9]|[4-9])|reasoner|chat|flash|pro)|kimi-(?!k2-(?:instruct|0\d{3})))/,
    cells: {
      reasoning: ['reasoning_content', 'anomalyco/opencode#24722, QuantumNous/new-api#3121, 2026-05'],
      needsReasoning: [true, 'labring/FastGPT#6357 (the same at other hosts of the model), 2026-02'],
      toolChoices: [
        'not_forced',
        'osaurus-ai/osaurus#1940, tickernelz/opencode-mem#253 (at routers), 2026-08',
      ],
      schemas: ['typed_unions', 'nicobailon/pi-subagents#126 (Kimi at a router), 2026-04'],
    },
  },
  {
    name: 'gpt-oss',
    match: /^gpt-oss/,
    cells: {
      reasoning: ['reasoning_content', 'vllm-project/vllm#28531, jundot/omlx#884, 2026-04'],
      takesEffort: [true, 'openai/gpt-oss README.md, docs.ollama.com/capabilities/thinking, 2026-11'],
    },
  },
  {
    name: 'GLM, MiniMax, Qwen 3',
    match: /^(?:glm-|minimax-|qwen-?3)/,
    cells: { reasoning: ['reasoning_content', 'vllm-project/vllm#28531, jundot/omlx#884, 2026-04'] },
  },
  {
    name: "Mistral's",
    match: mistralNames,
    cells: {
      callIds: ['nine_characters', 'Mistral templates in vllm and transformers; hermes-agent#20154, 2026-05'],
      userAfterTool: [false, 'pi-neuralwatt#12, hermes-agent#20154, zed-industries/zed#37021, 2026-06'],
      lastAssistant: [false, 'mistralai/mistral-common, microsoft/autogen#5044, 2025-02'],
    },
  },
];
