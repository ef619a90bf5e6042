import type { hosts } from '../../../src/hosts/registry.ts';
import { checkRequest } from './check-request.ts';
import type { Fields } from './shapes.ts';

// What vendors refuse beyond their dialect, in their words, each rule from public reports (2026). This is not read from
// `src/hosts`: the table is held to it.

/** What a scripted host remembers of its own answers. */
export interface Issued {
  /** Texts that nobody else can have made: signatures, encrypted reasoning. */
  readonly seals: Set<string>;
  /** What turns with signed thoughts consist of, in their order. */
  readonly turns: Set<string>;
  /** The ids of calls, of hosts whose ids are their own. */
  readonly calls: Set<string>;
}

export const nothingIssued = (): Issued => ({ seals: new Set(), turns: new Set(), calls: new Set() });

/** The order of what is signed and called in a turn of a Messages host. */
export function orderOf(blocks: readonly Fields[]): string {
  return blocks
    .flatMap(({ type, id, signature, data }) => (type === 'text' ? [] : [id ?? signature ?? data]))
    .join(' ');
}

interface VendorRule {
  readonly source: string;
  /** The vendor's words if it refuses the body. */
  refuses(body: Body, issued: Issued): string | undefined;
}

interface Body extends Fields {
  readonly messages?: readonly Message[];
  readonly input?: readonly Fields[];
  readonly contents?: readonly { role: string; parts: readonly Fields[] }[];
}
interface Message extends Fields {
  readonly tool_call_id?: string;
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly {
    id: string;
    function?: { arguments: string };
    extra_content?: Extra;
  }[];
}
interface Extra {
  readonly google?: { readonly thought_signature?: string };
}

const messagesOf = ({ messages = [] }: Body) => messages;

/** Without its message, a call's turn is refused. */
const wantsReasoning = (source: string, words: (at: number) => string): VendorRule => ({
  source,
  refuses: (body) => {
    const at = messagesOf(body).findIndex(
      ({ role, tool_calls, reasoning_content: text }) =>
        role === 'assistant' && tool_calls !== undefined && (typeof text !== 'string' || text === ''),
    );
    return at < 0 ? undefined : words(at);
  },
});

/** The ids of the calls and results of a request in a dialect of OpenAI's. */
function callIdsOf(body: Body): readonly string[] {
  const ofMessages = messagesOf(body).flatMap(({ tool_calls = [], tool_call_id: id }) => [
    ...tool_calls.map((call) => call.id),
    ...(id === undefined ? [] : [id]),
  ]);
  const ofItems = (body.input ?? []).flatMap(({ call_id: id }) => (typeof id === 'string' ? [id] : []));
  return [...ofMessages, ...ofItems];
}

const shortIds: VendorRule = {
  source: 'openai/codex#14355, musistudio/claude-code-router#1334, orchidfiles/ungate#26, 2026-07',
  refuses: (body) => {
    const wrong = callIdsOf(body).find((id) => id.length > 64);
    return (
      wrong &&
      `Invalid 'call_id': string too long. Expected a string with maximum length 64, but got a string with length ${wrong.length} instead.`
    );
  },
};

const nineCharacters: VendorRule = {
  source: 'anomalyco/opencode#1680, nearai/ironclaw#1241, 2026-03',
  refuses: (body) => {
    const wrong = callIdsOf(body).find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    return wrong && `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
  },
};

/** Templates parse the arguments of earlier calls. */
const wholeArguments: VendorRule = {
  source:
    'vllm-project/vllm#48922, OpenHands/software-agent-sdk#2887 (llama.cpp), xuzhougeng/wisp-science#775 (LiteLLM), 2026-08',
  refuses: (body) => {
    const all = messagesOf(body).flatMap(({ tool_calls = [] }) => tool_calls);
    for (const { function: called } of all) {
      try {
        JSON.parse(called?.arguments ?? '{}');
      } catch {
        return 'Unterminated string starting at: line 1 column 9 (char 8)';
      }
    }
    return undefined;
  },
};

const noNullContent: VendorRule = {
  source: 'pydantic/pydantic-ai#5206, QwenLM/qwen-code#3421, Kuberwastaken/claurst#118, 2026-04',
  refuses: (body) =>
    messagesOf(body).some(({ content }) => content === null)
      ? 'invalid message content type: <nil>'
      : undefined,
};

const endsWithUser = (words: string): VendorRule => ({
  source:
    'cortexkit/magic-context#511 (Claude), huggingface/smolagents#757 (Mistral), ggml-org/llama.cpp#20861, 2026-09',
  refuses: (body) => (messagesOf(body).at(-1)?.role === 'assistant' ? words : undefined),
});

const noStop = (words: string): VendorRule => ({
  source: 'lidge-jun/opencodex#5278 (xAI), huggingface/smolagents#1893 (OpenAI before GPT-5.5), 2026-09',
  refuses: ({ stop }) => (stop === undefined ? undefined : words),
});

/** The type of the answer that a request asks for, in any dialect. */
function formatOf(body: Body): unknown {
  const { response_format, output_config, text, generationConfig } = body as Readonly<
    Record<string, Readonly<Record<string, unknown>> | undefined>
  >;
  const { type } = (response_format ?? output_config?.format ?? text?.format ?? {}) as Fields;
  return type ?? generationConfig?.responseMimeType;
}

const onlyFormats = (words: string, ...known: readonly string[]): VendorRule => ({
  source:
    'UKGovernmentBEIS/inspect_ai#4916 (DeepSeek), BerriAI/litellm#37720 (GLM), decolua/9router#817 (MiniMax), lmstudio-bug-tracker#189, Portkey-AI/gateway#1570 (Vertex), 2026-08',
  refuses: (body) => {
    const format = formatOf(body);
    return format === undefined || known.includes(String(format)) ? undefined : words;
  },
});

const noFormatWithTools = (words: string): VendorRule => ({
  source: 'vercel/ai#16540, googleapis/python-genai#867, 2026-07',
  refuses: (body) => (formatOf(body) !== undefined && body.tools !== undefined ? words : undefined),
});

const saysJson: VendorRule = {
  source:
    'browserbase/stagehand#1204 (DeepSeek), platform.openai.com/docs/guides/structured-outputs, 2026-11',
  refuses: (body) => {
    const prompt = JSON.stringify([body.messages, body.input, body.instructions]);
    return formatOf(body) === 'json_object' && !/json/i.test(prompt)
      ? "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
      : undefined;
  },
};

const noUserAfterTool: VendorRule = {
  source: 'BerriAI/litellm#6323, zed-industries/zed#37021, 2026-04',
  refuses: (body) => {
    const messages = messagesOf(body);
    const isAfter = messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool');
    return isAfter ? "Unexpected role 'user' after role 'tool'" : undefined;
  },
};

/** Templates of Qwen 3.5 and others take one system message, at the beginning. */
const systemFirst: VendorRule = {
  source: 'ggml-org/llama.cpp#20733 and #27367, joshuadavidthomas/opencode-agent-memory#11, 2026-08',
  refuses: (body) => {
    const isLater = messagesOf(body).some(({ role }, at) => role === 'system' && at > 0);
    return isLater ? 'Jinja Exception: System message must be at the beginning.' : undefined;
  },
};

const noDeveloper: VendorRule = {
  source: 'proma-ai/Proma#1496, openclaw/openclaw#22710, earendil-works/pi#1048, 2026-08',
  refuses: (body) =>
    messagesOf(body).some(({ role }) => role === 'developer')
      ? "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']"
      : undefined,
};

/** Fields of single vendors, which others refuse or don't know; each vendor's list is of those that it takes. */
const special = [
  ...['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'],
  ...[
    'thinking',
    'enable_thinking',
    'reasoning_effort',
    'user',
    'safety_identifier',
    'stream_options',
    'max_completion_tokens',
  ],
];

const onlyFields = (known: readonly string[]): VendorRule => ({
  source:
    'BerriAI/litellm#30835 and #30882, charmbracelet/crush#1590, editor-code-assistant/eca#231 (Mistral), janhq/jan#8136 (Groq), Kilo-Org/kilocode#10375 (Cerebras), n4ze3m/page-assist#418 (Google), 2026-07',
  refuses: (body) => {
    const has = (fields: Fields) => special.find((name) => name in fields && !known.includes(name));
    const calls = messagesOf(body).flatMap(
      ({ tool_calls = [] }) => tool_calls as readonly object[] as Fields[],
    );
    const found = [body, ...messagesOf(body), ...calls].map(has).find((name) => name !== undefined);
    return found && `Extra inputs are not permitted: ${found}`;
  },
});

/** Of a model that thinks unless it is told not to. */
const notForced = (words: string): VendorRule => ({
  source: 'deepseek-ai/DeepSeek-V3#1376, can1357/oh-my-pi#1077, cloudwego/eino#994, 2026-08',
  refuses: ({ tool_choice: choice, thinking, enable_thinking }) => {
    const isForced = choice === 'required' || typeof choice === 'object';
    const isOff = (thinking as Fields | undefined)?.type === 'disabled' || enable_thinking === false;
    return isForced && !isOff ? words : undefined;
  },
});

const autoAlone: VendorRule = {
  source: 'java.agentscope.io/v2/en/integration/model/glm, 2026-11',
  refuses: ({ tool_choice: choice }) =>
    choice === undefined || choice === 'auto'
      ? undefined
      : 'Invalid API parameter, please check the documentation.',
};

const fixedSampling = (words: string): VendorRule => ({
  source:
    'google-gemini/gemini-cli#18977, Warma10032/VideoAdGuard#34, platform.openai.com/docs/guides/reasoning, 2026-08',
  refuses: ({ temperature, top_p }) => ((temperature ?? top_p) === undefined ? undefined : words),
});

const notBothSamplings: VendorRule = {
  source: 'BerriAI/litellm#21010, 2026-06',
  refuses: ({ temperature, top_p }) =>
    temperature === undefined || top_p === undefined
      ? undefined
      : '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
};

const onlyEfforts = (...known: readonly string[]): VendorRule => ({
  source:
    'gajae-code#3913, GoModel#862, chatwise#1206, as the efforts of each model in src/hosts/models.ts, 2026-11',
  refuses: (body) => {
    const { generationConfig, output_config, reasoning } = body as Readonly<
      Record<string, Fields | undefined>
    >;
    const thinking = generationConfig?.thinkingConfig as Fields | undefined;
    const effort =
      body.reasoning_effort ?? output_config?.effort ?? reasoning?.effort ?? thinking?.thinkingLevel;
    return effort === undefined || known.includes(String(effort))
      ? undefined
      : `Invalid value: '${effort}'. Supported values are: ${known.join(', ')}.`;
  },
});

const noReasoningWithTools: VendorRule = {
  source:
    'openai/openai-openapi#541 (GPT-5.4), jeffdafoe/llm-memory-api#178 (5.5), BerriAI/litellm#34569 (5.6, also without an effort), 2026-07',
  refuses: ({ tools, reasoning_effort: effort }) =>
    tools === undefined || effort === 'none'
      ? undefined
      : "Function tools with reasoning_effort are not supported in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
};

/** The media types and addresses of a request's pictures, in any dialect. */
function picturesOf(body: Body): readonly string[] {
  const text = JSON.stringify(body);
  const found = [
    ...text.matchAll(/"(?:media_type|mimeType)":"(image\/[^"]+)"/g),
    ...text.matchAll(/"(?:url|image_url)":"data:(image\/[^;"]+)/g),
    ...text.matchAll(/"(?:url|image_url|fileUri)":"(https?:[^"]+)"/g),
  ];
  return found.map(([, name = '']) => name);
}

const noPictures = (words: string): VendorRule => ({
  source: 'rikkahub/rikkahub#1433, BenedictKing/ccx#95 (DeepSeek), TriDefender/zcode-api#26 (GLM), 2026-07',
  refuses: (body) => (picturesOf(body).length > 0 ? words : undefined),
});

const onlyPictures = (...types: readonly string[]): VendorRule => ({
  source:
    'microsoft/vscode#286628 (Gemini), docs.x.ai/docs/guides/image-understanding, docs.anthropic.com vision, 2026-11',
  refuses: (body) => {
    const wrong = picturesOf(body).find((each) => each.startsWith('image/') && !types.includes(each));
    return wrong && `Unsupported MIME type: ${wrong}`;
  },
});

const noPictureUrls: VendorRule = {
  source:
    'OpenHands/software-agent-sdk#3155 (Kimi), ollama/ollama#6753, anthropics/anthropic-sdk-typescript#1038 (Vertex), 2026-05',
  refuses: (body) => {
    const wrong = picturesOf(body).find((each) => each.startsWith('http'));
    return wrong && `Invalid request: unsupported image url: ${wrong}`;
  },
};

const noFiles: VendorRule = {
  source: 'QwenLM/qwen-code#1838, langchain-ai/langchain#38388 (Fireworks), willdady/platypus#328, 2026-07',
  refuses: (body) =>
    JSON.stringify(messagesOf(body)).includes('"type":"file"')
      ? "Invalid value: file. Supported values are: 'text','image_url','video_url' and 'video'."
      : undefined,
};

type Check = (schema: Fields, path: string) => string | undefined;

/** The first schema of a tool's arguments that is wrong, with all that stands in it. */
function wrongSchema(
  {
    tools = [],
  }: { readonly tools?: readonly { readonly function?: Fields; readonly parameters?: unknown }[] },
  check: Check,
) {
  const find = (value: unknown, path: string): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    const isNames = path.endsWith('properties');
    const own = Array.isArray(value) || isNames ? undefined : check(value as Fields, path);
    if (own !== undefined) return own;
    for (const [name, held] of Object.entries(value)) {
      const found = find(held, `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const { function: declared, parameters } of tools) {
    const found = find(declared?.parameters ?? parameters, 'root');
    if (found !== undefined) return found;
  }
  return undefined;
}

const schemaRule = (source: string, check: Check): VendorRule => ({
  source,
  refuses: (body) => wrongSchema(body as Parameters<typeof wrongSchema>[0], check),
});

const typedUnions = schemaRule(
  'MoonshotAI/kimi-code#2661, openclaw/openclaw#113130, 2026-08',
  (schema, path) =>
    Array.isArray(schema.anyOf) && schema.type !== undefined
      ? `tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${path}': when using anyOf, type should be defined in anyOf items instead of the parent schema>`
      : undefined,
);

const describedItems = schemaRule(
  'digitalocean-labs/mcp-digitalocean#265, spacelift-io/spacectl#402, 2026-03',
  ({ type, items }, path) =>
    (type === 'array' || (Array.isArray(type) && type.includes('array'))) && items === undefined
      ? `Invalid schema for function: In context=(${path}), array schema missing items.`
      : undefined,
);

const anchoredPatterns = schemaRule(
  'openclaw/openclaw#113562, containers/kubernetes-mcp-server#758, 2026-07',
  ({ pattern }) =>
    typeof pattern === 'string' && !/^\^.*\$$/.test(pattern)
      ? "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"
      : undefined,
);

const googleKeywords = schemaRule('QwenLM/qwen-code#1186, theopenco/llmgateway#1763, 2026-02', (schema) => {
  const known =
    'type format description nullable enum items properties required minItems maxItems minimum maximum minLength maxLength pattern anyOf';
  const name = Object.keys(schema).find((each) => !known.split(' ').includes(each));
  if (name !== undefined) return `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
  return schema.type === undefined || typeof schema.type === 'string'
    ? undefined
    : 'Proto field is not repeating, cannot start list.';
});

/** OpenRouter passes on what the vendor behind it wants. */
const keptDetails: VendorRule = {
  source: 'musistudio/claude-code-router#1057, RooCodeInc/Roo-Code#10307, 2026-03',
  refuses: (body, { seals, calls }) => {
    const words =
      'Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: Function call is missing a thought_signature';
    for (const { tool_calls, reasoning_details: details } of messagesOf(body)) {
      if (tool_calls === undefined) continue;
      const found = ((details ?? []) as readonly Fields[]).map(({ data }) => String(data));
      // What came from elsewhere has none: the vendor takes a conversation that has never had any.
      if (found.length === 0 && tool_calls.some(({ id }) => calls.has(id))) return words;
      if (found.some((data) => !seals.has(data))) return 'Corrupted thought signature.';
    }
    return undefined;
  },
};

const completionCap: VendorRule = {
  source: 'LegalQuants/lq-ai#157, anomalyco/opencode#37964, 2026-07',
  refuses: ({ max_tokens }) =>
    max_tokens === undefined
      ? undefined
      : "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
};

const missingSignature =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly';
const skipWord = 'skip_thought_signature_validator';

/** Of each step of a model its first call has a signature. */
const signedCalls: VendorRule = {
  source:
    'securo-finance/securo#884, openclaude#67, ai.google.dev/gemini-api/docs/thought-signatures, 2026-09',
  refuses: (body, { seals }) => {
    const ofChat = messagesOf(body).flatMap(({ tool_calls: [first] = [] }) =>
      first === undefined ? [] : [first.extra_content?.google?.thought_signature],
    );
    const ofParts = (body.contents ?? []).flatMap(({ parts }) => {
      const first = parts.find((part) => 'functionCall' in part);
      return first === undefined ? [] : [first.thoughtSignature as string | undefined];
    });
    for (const signature of [...ofChat, ...ofParts]) {
      if (signature === undefined) return missingSignature;
      if (signature !== skipWord && !seals.has(signature)) return 'Corrupted thought signature.';
    }
    return undefined;
  },
};

const noCallIds: VendorRule = {
  source: 'pydantic/pydantic-ai#5081, vercel/ai#15664, charmbracelet/fantasy#265, 2026-06',
  refuses: ({ contents = [] }) => {
    const has = contents.some(({ parts }) =>
      parts.some(
        ({ functionCall, functionResponse }) => 'id' in ((functionCall ?? functionResponse ?? {}) as Fields),
      ),
    );
    return has
      ? 'Invalid JSON payload received. Unknown name "id" at \'function_call\': Cannot find field.'
      : undefined;
  },
};

/** Thoughts come back as they were, with the signature of the host. */
const signedThoughts: VendorRule = {
  source:
    'docs.anthropic.com/en/docs/build-with-claude/extended-thinking, NousResearch/hermes-agent#35976, BerriAI/litellm#23140, 2026-11',
  refuses: (body, { seals, turns }) => {
    const messages = messagesOf(body).map(({ content }) =>
      Array.isArray(content) ? (content as readonly Fields[]) : [],
    );
    const blocks = messages.flat();
    for (const { type, thinking, signature, data } of blocks) {
      if (type === 'thinking' && !seals.has(`${String(thinking)}\n${String(signature)}`))
        return 'Invalid `signature` in `thinking` block';
      if (type === 'redacted_thinking' && !seals.has(String(data)))
        return 'Invalid `data` in `redacted_thinking` block';
    }
    const isThought = ({ type }: Fields) => type === 'thinking' || type === 'redacted_thinking';
    const isMoved = messages.some((turn) => turn.some(isThought) && !turns.has(orderOf(turn)));
    return isMoved
      ? '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.'
      : undefined;
  },
};

const ownEncryption: VendorRule = {
  source:
    'platform.openai.com/docs/guides/reasoning, openai/codex issues on invalid_encrypted_content, 2026-11',
  refuses: ({ input = [] }, { seals }) => {
    const wrong = input.find(
      ({ type, encrypted_content: data }) => type === 'reasoning' && !seals.has(String(data)),
    );
    return wrong && 'The encrypted content could not be verified.';
  },
};

type HostName = keyof typeof hosts | 'local' | 'unknown';

interface Vendor {
  readonly dialect: 'chat' | 'messages' | 'responses' | 'gemini';
  readonly model: string;
  readonly rules: readonly VendorRule[];
  /** Where its answers have their reasoning, and whether its calls are signed. */
  readonly reasoning: 'reasoning_content' | 'reasoning' | 'thinking_part' | 'details' | 'signed' | 'none';
}

interface ChatVendor {
  readonly model: string;
  readonly reasoning?: Vendor['reasoning'];
  /** The special fields that it takes. */
  readonly takes?: readonly string[];
  readonly rules?: readonly VendorRule[];
}

/** Of OpenAI's dialect, but not OpenAI. */
function chat({
  model,
  reasoning = 'none',
  takes = ['user', 'stream_options'],
  rules = [],
}: ChatVendor): Vendor {
  return {
    dialect: 'chat',
    model,
    reasoning,
    rules: [...rules, onlyFields(takes), noDeveloper, systemFirst, noFiles, wholeArguments],
  };
}
const usual = ['user', 'stream_options'];
const withText = (field: 'reasoning_content' | 'reasoning') => ({
  reasoning: field,
  takes: [...usual, field],
});
const deepseek = wantsReasoning(
  'anomalyco/opencode#24722, musistudio/claude-code-router#1400, 2026-05',
  () => 'The `reasoning_content` in the thinking mode must be passed back to the API.',
);
const kimi = wantsReasoning(
  'continuedev/continue#11711, QuantumNous/new-api#3121, 2026-03',
  (at) =>
    `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
);
const deepseekChoice = notForced('Thinking mode does not support this tool_choice');
const kimiChoice = notForced('tool_choice specified is incompatible with thinking enabled');
const qwenChoice = notForced(
  'The tool_choice parameter does not support being set to required or object in thinking mode',
);
const textAlone = noPictures('messages[1]: unknown variant `image_url`, expected `text`');
const fourTypes = onlyPictures('image/jpeg', 'image/png', 'image/gif', 'image/webp');
const googleTypes = onlyPictures('image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif');
const openAiSampling = fixedSampling("Unsupported value: 'temperature' is not supported with this model.");
const gpt = onlyEfforts('none', 'low', 'medium', 'high', 'xhigh');
const gpt6 = onlyEfforts('low', 'medium', 'high', 'xhigh');
const ollamaTypes = onlyPictures('image/jpeg', 'image/png', 'image/webp');
const gemini3 = onlyEfforts('low', 'high');

/** No vendor refuses this: without marks each turn pays for all before it again. */
const wantsMarks: VendorRule = {
  source: 'docs.anthropic.com/en/docs/build-with-claude/prompt-caching, 2026-11',
  refuses: (body) =>
    JSON.stringify(body).includes('"cache_control"') ? undefined : 'nothing of this is cached',
};

const noPrefill = endsWithUser(
  'This model does not support assistant message prefill. The conversation must end with a user message.',
);
const mistralEnd = endsWithUser(
  'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
);
const thinkingEnd = endsWithUser('Assistant response prefill is incompatible with enable_thinking.');
const noFormat = onlyFormats('output_config.format: Extra inputs are not permitted');
const noJsonWithFunctions = noFormatWithTools(
  "Function calling with a response mime type: 'application/json' is unsupported",
);
const groqFormats = noFormatWithTools('json mode cannot be combined with tool/function calling');
const zaiFormats = onlyFormats('Invalid API parameter, please check the documentation.', 'json_object');
const openAiRules = [shortIds, describedItems, saysJson];

const claude: Pick<Vendor, 'dialect' | 'reasoning' | 'rules'> = {
  dialect: 'messages',
  reasoning: 'signed',
  rules: [
    signedThoughts,
    wantsMarks,
    fourTypes,
    noPrefill,
    fixedSampling('`temperature` may only be set to 1 for this model.'),
    onlyEfforts('low', 'medium', 'high', 'xhigh', 'max'),
  ],
};
const olderClaude = { ...claude, rules: [signedThoughts, wantsMarks, fourTypes, notBothSamplings] };
const oldestClaude: Vendor = {
  ...olderClaude,
  model: 'claude-sonnet-4-20250514',
  rules: [...olderClaude.rules, noFormat],
};
const openAiChat: Vendor = {
  dialect: 'chat',
  model: 'gpt-5.5',
  reasoning: 'none',
  rules: [
    ...openAiRules,
    completionCap,
    openAiSampling,
    gpt,
    noReasoningWithTools,
    fourTypes,
    onlyFields(['reasoning_effort', 'safety_identifier', 'stream_options', 'max_completion_tokens']),
  ],
};

const earlierGptChat: Vendor = {
  ...openAiChat,
  model: 'gpt-5.2',
  rules: [...openAiChat.rules, noStop("Unsupported parameter: 'stop' is not supported with this model.")],
};

/** One of OpenAI's models that doesn't reason, by a name of its user's. */
const deploymentRules = [
  ...openAiRules,
  completionCap,
  fourTypes,
  onlyFields(['safety_identifier', 'stream_options', 'max_completion_tokens']),
];

/** OpenAI's Responses, with the efforts that a model has. */
function openAiResponses(model: string, efforts: VendorRule): Vendor {
  const rules = [...openAiRules, ownEncryption, openAiSampling, efforts, fourTypes];
  return { dialect: 'responses', model, reasoning: 'signed', rules };
}

/** A vendor for each row of the table, in each dialect that it is translated to. */
export const vendors: Readonly<Record<HostName, readonly Vendor[]>> = {
  anthropic: [
    { ...claude, model: 'claude-opus-5' },
    { ...olderClaude, model: 'claude-sonnet-4-5' },
    oldestClaude,
  ],
  openai: [
    openAiChat,
    earlierGptChat,
    openAiResponses('gpt-5.5', gpt),
    openAiResponses('gpt-6-astra', gpt6),
    openAiResponses('gpt-5-pro', onlyEfforts('high')),
    openAiResponses('gpt-5.4-pro', onlyEfforts('medium', 'high', 'xhigh')),
    openAiResponses('gpt-5-codex', onlyEfforts('low', 'medium', 'high')),
    openAiResponses('gpt-5.1-codex', onlyEfforts('low', 'medium', 'high')),
    openAiResponses('gpt-5.3-codex', onlyEfforts('low', 'medium', 'high', 'xhigh')),
  ],
  azure: [
    openAiChat,
    earlierGptChat,
    { ...openAiChat, model: 'our-deployment', rules: deploymentRules },
    chat({
      model: 'DeepSeek-V4-Pro',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'reasoning_effort'],
      rules: [deepseek, deepseekChoice, onlyEfforts('low', 'medium', 'high')],
    }),
    chat({ model: 'Kimi-K2.6', ...withText('reasoning_content'), rules: [kimi, kimiChoice, typedUnions] }),
    chat({ model: 'FW-GLM-5.3', ...withText('reasoning_content') }),
    chat({
      model: 'gpt-oss-120b',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'reasoning_effort'],
      rules: [onlyEfforts('low', 'medium', 'high')],
    }),
    chat({
      model: 'grok-4.3',
      takes: [...usual, 'reasoning_effort'],
      rules: [
        onlyEfforts('none', 'low', 'medium', 'high'),
        noStop('Model grok-4.3 does not support parameter stop.'),
      ],
    }),
    chat({
      model: 'Mistral-Large-3',
      takes: [],
      rules: [nineCharacters, noUserAfterTool, mistralEnd],
    }),
    { ...claude, model: 'claude-opus-5' },
    { ...olderClaude, model: 'claude-sonnet-4-5' },
    oldestClaude,
  ],
  gemini: [
    chat({
      model: 'gemini-3-pro',
      reasoning: 'signed',
      takes: ['stream_options', 'extra_content', 'reasoning_effort'],
      rules: [signedCalls, googleKeywords, googleTypes, gemini3],
    }),
    {
      dialect: 'gemini',
      model: 'gemini-3-pro',
      reasoning: 'signed',
      rules: [signedCalls, googleTypes, gemini3],
    },
    {
      dialect: 'gemini',
      model: 'gemini-2.5-pro',
      reasoning: 'none',
      rules: [googleTypes, noJsonWithFunctions],
    },
  ],
  mistral: [
    chat({
      model: 'mistral-large-latest',
      takes: [],
      rules: [nineCharacters, noUserAfterTool, fourTypes, mistralEnd],
    }),
    chat({
      model: 'mistral-small-latest',
      reasoning: 'thinking_part',
      takes: ['reasoning_effort'],
      rules: [nineCharacters, noUserAfterTool, fourTypes, mistralEnd, onlyEfforts('none', 'high')],
    }),
  ],
  deepseek: [
    chat({
      model: 'deepseek-v4-pro',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'thinking', 'reasoning_effort'],
      rules: [
        ...[deepseek, deepseekChoice, textAlone, onlyEfforts('low', 'high', 'max'), saysJson],
        onlyFormats('This response_format type is unavailable now', 'json_object'),
      ],
    }),
    chat({
      model: 'deepseek-v4-vision',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'thinking', 'reasoning_effort'],
      rules: [deepseek, deepseekChoice],
    }),
  ],
  moonshot: [
    chat({
      model: 'kimi-k2.6',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'thinking'],
      rules: [
        ...[kimi, kimiChoice, typedUnions, noPictureUrls],
        fixedSampling('invalid temperature: only 1 is allowed for this model'),
      ],
    }),
    chat({
      model: 'kimi-k3',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'reasoning_effort'],
      rules: [
        ...[kimi, typedUnions, noPictureUrls, onlyEfforts('low', 'high', 'max')],
        fixedSampling('invalid temperature: only 1 is allowed for this model'),
      ],
    }),
    chat({
      model: 'moonshot-v1-128k',
      ...withText('reasoning_content'),
      rules: [typedUnions, noPictureUrls],
    }),
  ],
  xai: [
    chat({ model: 'grok-4-fast-non-reasoning' }),
    chat({
      model: 'grok-4.3',
      takes: [...usual, 'reasoning_effort'],
      rules: [
        ...[onlyPictures('image/jpeg', 'image/png'), onlyEfforts('none', 'low', 'medium', 'high')],
        noStop('Model grok-4.3 does not support parameter stop.'),
      ],
    }),
  ],
  groq: [
    chat({ model: 'moonshotai/kimi-k2.6', reasoning: 'reasoning', rules: [groqFormats] }),
    chat({ model: 'llama-4', rules: [groqFormats] }),
  ],
  cerebras: [
    chat({
      model: 'gpt-oss-120b',
      reasoning: 'reasoning',
      takes: [...usual, 'reasoning_effort'],
      rules: [onlyEfforts('low', 'medium', 'high')],
    }),
  ],
  together: [
    chat({
      model: 'deepseek-ai/DeepSeek-V3.2',
      ...withText('reasoning_content'),
      rules: [deepseek, deepseekChoice],
    }),
  ],
  fireworks: [
    chat({
      model: 'accounts/fireworks/models/kimi-k2.6',
      ...withText('reasoning_content'),
      rules: [kimi, kimiChoice],
    }),
  ],
  openrouter: [
    { ...chat({ model: 'some/model', ...withText('reasoning') }), rules: routerRules([]) },
    {
      ...chat({ model: 'google/gemini-3-pro', reasoning: 'details' }),
      rules: routerRules([keptDetails]),
    },
    { ...chat({ model: 'anthropic/claude-opus-4.1' }), rules: routerRules([notBothSamplings]) },
    {
      ...chat({ model: 'anthropic/claude-opus-4.7' }),
      rules: routerRules([noPrefill, fixedSampling('`temperature` is deprecated for this model.')]),
    },
  ],
  zai: [
    chat({
      model: 'glm-5',
      reasoning: 'reasoning_content',
      takes: ['user', 'reasoning_content', 'thinking'],
      rules: [autoAlone, textAlone, zaiFormats],
    }),
    chat({
      model: 'glm-4.6v',
      reasoning: 'reasoning_content',
      takes: ['user', 'reasoning_content', 'thinking'],
      rules: [autoAlone],
    }),
    chat({
      model: 'glm-5.3',
      reasoning: 'reasoning_content',
      takes: ['user', 'reasoning_content', 'reasoning_effort'],
      rules: [autoAlone, textAlone, zaiFormats, onlyEfforts('low', 'high', 'max')],
    }),
  ],
  minimax: [
    chat({
      model: 'MiniMax-M2',
      ...withText('reasoning_content'),
      rules: [onlyFormats('invalid params, output format is not supported')],
    }),
  ],
  qwen: [
    chat({
      model: 'qwen3-max',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'enable_thinking'],
      rules: [qwenChoice],
    }),
    chat({
      model: 'deepseek-v4-pro',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content', 'enable_thinking'],
      rules: [deepseek, qwenChoice],
    }),
  ],
  bedrock: [
    { ...claude, rules: [...claude.rules, noPictureUrls, noFormat], model: 'anthropic.claude-opus-5' },
    {
      ...olderClaude,
      rules: [...olderClaude.rules, noPictureUrls],
      model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    },
    {
      ...oldestClaude,
      rules: [...oldestClaude.rules, noPictureUrls],
      model: 'anthropic.claude-sonnet-4-20250514-v1:0',
    },
  ],
  vertex: [
    { ...claude, rules: [...claude.rules, noPictureUrls, noFormat], model: 'claude-opus-5' },
    { ...olderClaude, rules: [...olderClaude.rules, noPictureUrls, noFormat], model: 'claude-sonnet-4-5' },
    { ...oldestClaude, rules: [...oldestClaude.rules, noPictureUrls], model: 'claude-sonnet-4@20250514' },
    {
      dialect: 'gemini',
      model: 'gemini-3-pro',
      reasoning: 'signed',
      rules: [signedCalls, noCallIds, googleTypes, gemini3],
    },
    {
      dialect: 'gemini',
      model: 'gemini-2.5-pro',
      reasoning: 'none',
      rules: [noCallIds, googleTypes, noJsonWithFunctions],
    },
    chat({
      model: 'google/gemini-3-pro',
      reasoning: 'signed',
      takes: [...usual, 'extra_content', 'reasoning_effort'],
      rules: [signedCalls, googleKeywords, googleTypes, gemini3],
    }),
    chat({
      model: 'deepseek-ai/deepseek-v3.2-maas',
      reasoning: 'reasoning_content',
      takes: [...usual, 'reasoning_content'],
    }),
  ],
  ollama: [
    chat({
      model: 'qwen3.5',
      ...withText('reasoning'),
      rules: [noPictureUrls, ollamaTypes, anchoredPatterns, noNullContent],
    }),
    chat({
      model: 'gpt-oss:20b',
      reasoning: 'reasoning',
      takes: [...usual, 'reasoning', 'reasoning_effort'],
      rules: [
        noPictureUrls,
        ollamaTypes,
        anchoredPatterns,
        noNullContent,
        onlyEfforts('low', 'medium', 'high'),
      ],
    }),
  ],
  lmstudio: [
    chat({
      model: 'qwen3.5',
      ...withText('reasoning_content'),
      rules: [anchoredPatterns, onlyFormats("'response_format.type' must be 'json_schema'", 'json_schema')],
    }),
  ],
  vllm: [
    chat({ model: 'qwen3.5', ...withText('reasoning') }),
    chat({
      model: 'mistralai/Mistral-Small',
      takes: [...usual, 'reasoning'],
      rules: [nineCharacters, noUserAfterTool, mistralEnd],
    }),
  ],
  sglang: [chat({ model: 'qwen3.5', ...withText('reasoning_content') })],
  llamacpp: [
    chat({
      model: 'my-own.gguf',
      ...withText('reasoning_content'),
      rules: [anchoredPatterns, thinkingEnd],
    }),
  ],
  tgi: [chat({ model: 'llama-4' })],
  litellm: [
    chat({ model: 'deepseek-v4-pro', ...withText('reasoning_content'), rules: [deepseek, deepseekChoice] }),
    chat({
      model: 'openai/gpt-5.5',
      takes: [...usual, 'reasoning_effort', 'max_completion_tokens'],
      rules: [completionCap, openAiSampling, gpt, shortIds],
    }),
    chat({
      model: 'openai/gpt-5.2',
      takes: [...usual, 'reasoning_effort', 'max_completion_tokens'],
      rules: [completionCap, openAiSampling, gpt, noStop("'stop' is not supported with this model.")],
    }),
    chat({ model: 'xai/grok-4', rules: [noStop('Argument not supported on this model: stop')] }),
  ],
  local: [
    chat({
      model: 'qwen3.5',
      ...withText('reasoning_content'),
      rules: [anchoredPatterns, thinkingEnd, noNullContent],
    }),
  ],
  unknown: [
    chat({ model: 'some-model' }),
    chat({
      model: 'kimi-k2.6',
      ...withText('reasoning_content'),
      rules: [kimi, kimiChoice, typedUnions],
    }),
  ],
};

/** OpenRouter reads documents for every model. */
function routerRules(more: readonly VendorRule[]): readonly VendorRule[] {
  return [...more, onlyFields([...usual, 'reasoning', 'reasoning_details']), noDeveloper, systemFirst];
}

const paths = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  gemini: '/v1beta/models/m:generateContent',
} as const;

/** Why a vendor refuses a request, in its words; undefined if it takes it. */
export function refusalOf(vendor: Vendor, sent: unknown, issued: Issued): string | undefined {
  const body = sent as Body;
  for (const rule of vendor.rules) {
    const words = rule.refuses(body, issued);
    if (words !== undefined) return words;
  }
  const checked = vendor.dialect === 'messages' ? body : withoutReasoning(body);
  const refused = checkRequest(paths[vendor.dialect], checked);
  return refused && JSON.stringify(refused.body);
}

/** The dialect's own check knows none of the vendors' fields. */
function withoutReasoning(body: Body): unknown {
  const own = ['reasoning_content', 'reasoning_details', 'extra_content', 'thinking', 'enable_thinking'];
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) => {
      if (name === 'input' && Array.isArray(value))
        return value.filter(({ type }: Fields) => type !== 'reasoning');
      return own.includes(name) ? undefined : value;
    }).replace(/,"reasoning":"(?:[^"\\]|\\.)*"/g, ''),
  );
}

export type { Vendor };
