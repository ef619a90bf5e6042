import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentModels } from '../../client/address.ts';
import { logins } from '../../config/source/logins.ts';
import { makeDirectory, stateDirectory } from '../../lib/directories.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import type { Io } from '../shell/io.ts';

/** What the configuration says of a model, in tokens. */
export interface ModelLimits {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

interface Access {
  readonly url: string;
  readonly key: string;
  /** The models to ask for, the client's own by default; `small` and `thinking` only for a client with such roles. */
  readonly models: AgentModels;
  /**
   * Of the main model: an agent that doesn't know it assumes others, and lets conversations grow until the provider
   * refuses.
   */
  readonly limits?: ModelLimits;
  /** Whether the client uses its own login at the provider, so that the key is only for the gateway. */
  readonly login?: boolean;
  /** The user's own headers: what `headersVariable` has. */
  readonly headers?: string | undefined;
  /** The file with what Codex has to know of the main model, if it doesn't (`codex-catalogue.ts`). */
  readonly catalogue?: string | undefined;
}

/** What points a client at a gateway. */
export interface ClientSettings {
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that a user's own of the same name replace. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Settings that it reads from a file only, by the variable that names the file (`writeFiles`). */
  readonly files?: Readonly<Record<string, object>>;
  /** Arguments that an agent needs before its own. */
  readonly arguments?: readonly string[];
}

interface Client {
  settings(target: Access): ClientSettings;
  /** Variables that would point the client elsewhere. */
  readonly conflicts: readonly string[];
  /** Variables that would take the place of its own login. */
  readonly loginConflicts?: readonly string[];
  /** The variable that has headers of the user's own. */
  readonly headersVariable?: string;
  /** An example command, shown by `env`. */
  readonly example: string;
  /** What else than its main model it can be told to ask. */
  readonly roles?: readonly ('small' | 'thinking')[];
  /** How to install it; present if `run` can start it. */
  readonly install?: string;
}

/** With any other, Gemini CLI asks Google and ignores GOOGLE_GEMINI_BASE_URL. */
export const geminiAuth = 'gemini-api-key';

/** What Qwen Code asks for here, if nobody names a model. */
export const qwenModel = 'qwen3-coder-plus';

/** Each makes Claude Code use another cloud and ignore ANTHROPIC_BASE_URL, as newer ones of this form may (`isCloudSwitch`). */
const otherClouds = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
  'CLAUDE_CODE_USE_GATEWAY',
] as const;

/** Switches of the same form that are about something else. */
const otherSwitches = [
  'CLAUDE_CODE_USE_CCR_V2',
  'CLAUDE_CODE_USE_COWORK_PLUGINS',
  'CLAUDE_CODE_USE_NATIVE_FILE_SEARCH',
  'CLAUDE_CODE_USE_POWERSHELL_TOOL',
];

/** Whether a variable may have Claude Code use another cloud: any that isn't known for something else. */
export function isCloudSwitch(name: string): boolean {
  return /^(?:ANTHROPIC|CLAUDE|CLAUDE_CODE)_USE_/.test(name) && !otherSwitches.includes(name);
}

/** Every client that `env` and `run` know. */
const clients = {
  claude: {
    settings: ({ url, key, models: { main, small = main, thinking }, limits, login, headers }) => ({
      variables: {
        ANTHROPIC_BASE_URL: url,
        ...(login === true
          ? { ANTHROPIC_CUSTOM_HEADERS: [...otherHeaders(headers), `x-gateway-key: ${key}`].join('\n') }
          : { ANTHROPIC_AUTH_TOKEN: key }),
        ...claudeModels(main, thinking),
        ...(small !== undefined && { ANTHROPIC_DEFAULT_HAIKU_MODEL: small }),
      },
      defaults: {
        // Has it send which subagent, prompt and purpose a request is for (2.1.273 and later).
        CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
        ...(limits?.contextWindow !== undefined && {
          CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(limits.contextWindow),
        }),
        ...(limits?.maxOutputTokens !== undefined && {
          CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(limits.maxOutputTokens),
        }),
      },
    }),
    headersVariable: 'ANTHROPIC_CUSTOM_HEADERS',
    // With the socket it connects there and ignores the address.
    roles: ['small', 'thinking'],
    conflicts: ['ANTHROPIC_API_KEY', 'ANTHROPIC_UNIX_SOCKET', ...otherClouds],
    loginConflicts: ['ANTHROPIC_AUTH_TOKEN'],
    example: 'claude -p "hello"',
    install: 'npm install -g @anthropic-ai/claude-code',
  },
  codex: {
    settings: ({ url, key, models: { main }, limits: { contextWindow } = {}, login, catalogue }) => ({
      variables: { GATEWAY_KEY: key },
      arguments: [
        ...[
          '-c',
          'model_provider="gateway"',
          '-c',
          `model_providers.gateway=${codexProvider({ url, login })}`,
        ],
        ...(main === undefined ? [] : ['-c', `model=${JSON.stringify(main)}`]),
        ...(contextWindow === undefined ? [] : ['-c', `model_context_window=${contextWindow}`]),
        ...(catalogue === undefined ? [] : ['-c', `model_catalog_json=${JSON.stringify(catalogue)}`]),
      ],
    }),
    conflicts: [],
    example: 'codex exec --skip-git-repo-check "hello"',
    install: 'npm install -g @openai/codex',
  },
  opencode: {
    settings: (target) => ({
      variables: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(target)),
        // No stored logins: with that of ChatGPT it sends requests for `openai` there and ignores the address.
        OPENCODE_AUTH_CONTENT: '{}',
      },
    }),
    conflicts: [],
    roles: ['small', 'thinking'],
    example: 'opencode run "hello"',
    install: 'npm install -g opencode-ai',
  },
  gemini: {
    settings: ({ url, key, models: { main } }) => ({
      variables: {
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: key,
        // Not just absent: its .env files, also a repository's, set what is.
        GOOGLE_GENAI_USE_VERTEXAI: '',
        GOOGLE_GENAI_USE_GCA: '',
        GOOGLE_API_KEY: '',
        ...(main !== undefined && { GEMINI_MODEL: main }),
      },
      // Without a choice it takes one for an address of one's own, which it then refuses (0.61).
      files: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: { security: { auth: { selectedType: geminiAuth } } } },
    }),
    conflicts: [],
    example: 'gemini -p "hello"',
    install: 'npm install -g @google/gemini-cli',
  },
  copilot: {
    settings: ({ url, key, models: { main }, limits: { contextWindow, maxOutputTokens } = {} }) => ({
      variables: {
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: key,
        ...(main !== undefined && { COPILOT_MODEL: main }),
      },
      defaults: {
        // It has no model of its own for another host than GitHub's.
        ...(main === undefined && { COPILOT_MODEL: logins.codex.model }),
        // Nothing is sent to GitHub, whose models it doesn't use here.
        COPILOT_OFFLINE: 'true',
        ...(contextWindow !== undefined && { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(contextWindow) }),
        ...(maxOutputTokens !== undefined && { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(maxOutputTokens) }),
      },
    }),
    conflicts: [
      'COPILOT_PROVIDER_BEARER_TOKEN',
      'COPILOT_PROVIDER_API_KEY_COMMAND',
      'COPILOT_PROVIDER_MODEL_ID',
      'COPILOT_PROVIDER_WIRE_MODEL',
      'COPILOT_PROVIDER_WIRE_API',
      'COPILOT_PROVIDER_TRANSPORT',
    ],
    example: 'copilot -p "hello"',
    install: 'npm install -g @github/copilot',
  },
  qwen: {
    settings: ({ url, key, models: { main } }) => ({
      variables: {
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: key,
        ...(main !== undefined && { OPENAI_MODEL: main }),
      },
      ...(main === undefined && { defaults: { OPENAI_MODEL: qwenModel } }),
      arguments: ['--auth-type', 'openai'],
    }),
    conflicts: [],
    example: 'qwen "hello"',
    install: 'npm install -g @qwen-code/qwen-code',
  },
  openai: {
    settings: ({ url, key }) => ({ variables: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key } }),
    conflicts: [],
    example: `python -c 'from openai import OpenAI; print(OpenAI().models.list())'`,
  },
  anthropic: {
    settings: ({ url, key }) => ({ variables: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } }),
    conflicts: ['ANTHROPIC_AUTH_TOKEN'],
    example: `python -c 'from anthropic import Anthropic; print(Anthropic().models.list())'`,
  },
  curl: {
    settings: ({ url, key }) => ({ variables: { GATEWAY_URL: url, GATEWAY_KEY: key } }),
    conflicts: [],
    example: 'curl "$GATEWAY_URL/v1/models" -H "authorization: Bearer $GATEWAY_KEY"',
  },
} as const satisfies Readonly<Record<string, Client>>;

export type ClientName = keyof typeof clients;

export const knownClients = Object.keys(clients) as readonly ClientName[]; // keyof's own names

export function clientOf(name: ClientName): Client {
  return clients[name];
}

/** Clients that `run` can start. */
export const agentNames = knownClients.filter((name) => 'install' in clients[name]);

/** Its name for two models: one to plan with (its Opus), one for everything else (its Sonnet). */
function claudeModels(main: string | undefined, thinking: string | undefined): ClientSettings['variables'] {
  if (thinking === undefined) return main === undefined ? {} : { ANTHROPIC_MODEL: main };
  return {
    ANTHROPIC_MODEL: 'opusplan',
    ANTHROPIC_DEFAULT_OPUS_MODEL: thinking,
    ...(main !== undefined && { ANTHROPIC_DEFAULT_SONNET_MODEL: main }),
  };
}

/** Without a project key that is there already. */
function otherHeaders(headers = ''): readonly string[] {
  return headers.split('\n').filter((line) => line.trim() !== '' && !/^\s*x-gateway-key\s*:/i.test(line));
}

interface CodexTarget extends Pick<Access, 'url'> {
  readonly login: boolean | undefined;
}

/**
 * Codex's provider block as an inline TOML table. Without the two zeros Codex retries what the gateway refused; without
 * the last setting it tries a WebSocket before each conversation.
 */
function codexProvider({ url, login }: CodexTarget): string {
  const fields = [
    'name="gateway"',
    `base_url=${JSON.stringify(`${url}/v1`)}`,
    // The first line sends Codex's own login, as to its built-in provider.
    ...(login === true
      ? ['requires_openai_auth=true', 'env_http_headers={"x-gateway-key"="GATEWAY_KEY"}']
      : ['env_key="GATEWAY_KEY"']),
    'wire_api="responses"',
    'request_max_retries=0',
    'stream_max_retries=0',
    'supports_websockets=false',
  ];
  return `{${fields.join(', ')}}`;
}

function opencodeConfig({ url, key, models: { main, small = main, thinking }, limits = {} }: Access): object {
  const options = { baseURL: `${url}/v1`, apiKey: key };
  // Only these two providers: others that it finds in the environment would bypass the gateway.
  const own = main === undefined ? ['anthropic', 'openai'] : [];
  // A model that it doesn't know needs a provider of its own. A limit of 0 is not known; it wants both or none.
  const { contextWindow: context = 0, maxOutputTokens: output = 0 } = limits;
  const others = [small, thinking].filter((each) => each !== undefined);
  const models = {
    ...Object.fromEntries(others.map((id) => [id, {}])),
    ...(main !== undefined && { [main]: context + output === 0 ? {} : { limit: { context, output } } }),
  };
  const gateway = { npm: '@ai-sdk/openai-compatible', name: 'gateway', options, models };
  return {
    enabled_providers: [...own, ...(others.length === 0 ? [] : ['gateway'])],
    provider: {
      ...Object.fromEntries(own.map((name) => [name, { options }])),
      ...(others.length > 0 && { gateway }),
    },
    ...(main !== undefined && { model: `gateway/${main}` }),
    ...(small !== undefined && { small_model: `gateway/${small}` }),
    ...(thinking !== undefined && { agent: { plan: { model: `gateway/${thinking}` } } }),
  };
}

/** The settings with their files written to this user's state, without a key, and with the variables that name them. */
export function writeFiles(
  name: ClientName,
  { files = {}, variables, ...rest }: ClientSettings,
  { env }: Pick<Io, 'env'>,
): ClientSettings {
  const directory = join(stateDirectory(env), 'agents');
  const written = Object.entries(files).map(([variable, content]) => {
    makeDirectory(directory);
    const path = join(directory, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    return [variable, path] as const;
  });
  return { ...rest, variables: { ...variables, ...Object.fromEntries(written) } };
}

type Environment = Readonly<Record<string, unknown>>;

const local = ['127.0.0.1', 'localhost', '::1'];

/**
 * Variables that exempt the local gateway from proxies: otherwise a company's proxy would get the project key and every
 * prompt, and answer in the gateway's place. They are set even without a proxy in the environment, since agents also
 * read proxies from their settings files. None if the gateway is elsewhere, or every host is exempt.
 */
export function pastProxies(gatewayUrl: string, env: Environment): Readonly<Record<string, string>> {
  const host = hostOf(gatewayUrl);
  const exempt = entriesOf(env.no_proxy || env.NO_PROXY);
  if (!isLoopbackHost(host) || exempt.includes('*')) return {};
  const list = [...new Set([...exempt, ...local, host])].join(',');
  // Some clients read one, some the other.
  return { NO_PROXY: list, no_proxy: list };
}

/** Whether an agent with these variables sends its requests for a local gateway through a proxy. */
export function usesProxy(gatewayUrl: string, env: Environment): boolean {
  const host = hostOf(gatewayUrl);
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const exemptions = [env.NO_PROXY, env.no_proxy].filter((value) => value !== undefined).map(entriesOf);
  return (
    isLoopbackHost(host) &&
    proxies.some((name) => (env[name] ?? '') !== '') &&
    (exemptions.length === 0 || exemptions.some((exempt) => !exempt.includes('*') && !exempt.includes(host)))
  );
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

function entriesOf(list: unknown): readonly string[] {
  return String(list ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
}
