import type { hosts } from '../../../src/hosts/registry.ts';
import { checkRequest } from './check-request.ts';
import type { Fields } from './shapes.ts';

// What vendors refuse beyond their dialect, in their words, each rule from public reports (2026). This is not read from
// `src/hosts`: the table is held to it.

/** What a scripted host remembers of its own answers. */
export interface Issued {
  /** Texts that nobody else can have made: signatures, encrypted reasoning. */
  readonly seals: Set<string>;
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
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { id: string; extra_content?: Extra }[];
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

const nineCharacters: VendorRule = {
  source: 'anomalyco/opencode#1680, nearai/ironclaw#1241, 2026-03',
  refuses: (body) => {
    const ids = messagesOf(body).flatMap(({ tool_calls = [], tool_call_id: id }) => [
      ...tool_calls.map((call) => call.id),
      ...(id === undefined ? [] : [String(id)]),
    ]);
    const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    return wrong && `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
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
  source: 'pydantic-ai and litellm on the role developer at other hosts than OpenAI, 2026-06',
  refuses: (body) =>
    messagesOf(body).some(({ role }) => role === 'developer')
      ? "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']"
      : undefined,
};

const noSpecialFields = (...names: readonly string[]): VendorRule => ({
  source: 'BerriAI/litellm#30835, charmbracelet/crush#1590, 2026-06',
  refuses: (body) => {
    const has = (fields: Fields) => names.find((name) => name in fields);
    const found =
      has(body) ??
      messagesOf(body)
        .map(has)
        .find((name) => name !== undefined);
    return found && `Extra inputs are not permitted: ${found}`;
  },
});

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
  source: 'docs.anthropic.com/en/docs/build-with-claude/extended-thinking, 2026-11',
  refuses: (body, { seals }) => {
    const blocks = messagesOf(body).flatMap(({ content }) =>
      Array.isArray(content) ? (content as readonly Fields[]) : [],
    );
    for (const { type, thinking, signature, data } of blocks) {
      if (type === 'thinking' && !seals.has(`${String(thinking)}\n${String(signature)}`))
        return 'Invalid `signature` in `thinking` block';
      if (type === 'redacted_thinking' && !seals.has(String(data)))
        return 'Invalid `data` in `redacted_thinking` block';
    }
    return undefined;
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
  readonly reasoning: 'reasoning_content' | 'reasoning' | 'signed' | 'none';
}

const chat = (model: string, reasoning: Vendor['reasoning'], ...rules: readonly VendorRule[]): Vendor => ({
  dialect: 'chat',
  model,
  reasoning,
  rules,
});
const plain = noSpecialFields('reasoning_content', 'reasoning', 'reasoning_details', 'extra_content');
const others = [noDeveloper, systemFirst];
const deepseek = wantsReasoning(
  'anomalyco/opencode#24722, musistudio/claude-code-router#1400, 2026-05',
  () => 'The `reasoning_content` in the thinking mode must be passed back to the API.',
);
const kimi = wantsReasoning(
  'continuedev/continue#11711, QuantumNous/new-api#3121, 2026-03',
  (at) =>
    `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
);
const claude: Pick<Vendor, 'dialect' | 'reasoning' | 'rules'> = {
  dialect: 'messages',
  reasoning: 'signed',
  rules: [signedThoughts],
};

/** A vendor for each row of the table, in each dialect that it is translated to. */
export const vendors: Readonly<Record<HostName, readonly Vendor[]>> = {
  anthropic: [{ ...claude, model: 'claude-opus-5' }],
  openai: [
    chat('gpt-5.5', 'none', completionCap, plain),
    { dialect: 'responses', model: 'gpt-5.5', reasoning: 'signed', rules: [ownEncryption] },
  ],
  azure: [chat('gpt-5.5', 'none', completionCap, plain)],
  gemini: [
    chat('gemini-3-pro', 'signed', signedCalls, noDeveloper),
    { dialect: 'gemini', model: 'gemini-3-pro', reasoning: 'signed', rules: [signedCalls] },
  ],
  mistral: [chat('mistral-large-latest', 'none', nineCharacters, noUserAfterTool, plain, ...others)],
  deepseek: [chat('deepseek-v4-pro', 'reasoning_content', deepseek, ...others)],
  moonshot: [chat('kimi-k2.6', 'reasoning_content', kimi, ...others)],
  xai: [chat('grok-4', 'none', ...others)],
  groq: [
    chat('moonshotai/kimi-k2.6', 'reasoning', kimi, ...others),
    chat('llama-4', 'none', plain, ...others),
  ],
  together: [chat('deepseek-ai/DeepSeek-V3.2', 'reasoning_content', deepseek, ...others)],
  fireworks: [chat('accounts/fireworks/models/kimi-k2.6', 'reasoning_content', kimi, ...others)],
  openrouter: [chat('some/model', 'reasoning', ...others)],
  zai: [chat('glm-5', 'reasoning_content', ...others)],
  minimax: [chat('MiniMax-M2', 'reasoning_content', ...others)],
  qwen: [chat('qwen3-max', 'none', ...others)],
  bedrock: [{ ...claude, model: 'anthropic.claude-opus-5' }],
  vertex: [
    { ...claude, model: 'claude-opus-5' },
    { dialect: 'gemini', model: 'gemini-3-pro', reasoning: 'signed', rules: [signedCalls, noCallIds] },
  ],
  ollama: [chat('qwen3.5', 'reasoning', ...others)],
  lmstudio: [chat('qwen3.5', 'reasoning_content', ...others)],
  vllm: [
    chat('qwen3.5', 'reasoning', ...others),
    chat('mistralai/Mistral-Small', 'none', nineCharacters, noUserAfterTool, ...others),
  ],
  sglang: [chat('qwen3.5', 'reasoning_content', ...others)],
  llamacpp: [chat('qwen3.5', 'reasoning_content', ...others)],
  tgi: [chat('llama-4', 'none', plain, ...others)],
  litellm: [chat('deepseek-v4-pro', 'reasoning_content', deepseek, ...others)],
  local: [chat('qwen3.5', 'reasoning_content', ...others)],
  unknown: [chat('some-model', 'none', plain, ...others)],
};

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
  const refused = checkRequest(paths[vendor.dialect], withoutReasoning(body));
  return refused && JSON.stringify(refused.body);
}

/** The dialect's own check knows none of the vendors' fields. */
function withoutReasoning(body: Body): unknown {
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) => {
      if (name === 'input' && Array.isArray(value))
        return value.filter(({ type }: Fields) => type !== 'reasoning');
      return ['reasoning_content', 'reasoning_details', 'extra_content'].includes(name) ? undefined : value;
    }).replace(/,"reasoning":"(?:[^"\\]|\\.)*"/g, ''),
  );
}

export type { Vendor };
