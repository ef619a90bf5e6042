import type { DialectName } from '../../src/dialects/registry.ts';
import { textDialects } from './dialects.ts';
import { projects } from './gateway.ts';

interface Options {
  readonly anthropic: string;
  readonly openai: string;
  /** Lines for `server:`, indented by two spaces. */
  readonly server?: string;
  /** Further settings of both providers, as YAML flow entries. */
  readonly provider?: string;
  /** Further sections of the file. */
  readonly more?: string;
}

/** A configuration with one host of each family, each with a key, and a model that is renamed on the way. */
export function twoHosts({
  anthropic,
  openai,
  server = '  port: 0',
  provider = '',
  more = '',
}: Options): string {
  const settings = provider === '' ? '' : `, ${provider}`;
  return `
server:
${server}
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}"${settings} }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}"${settings} }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: embed, provider: gpt }
  - { match: renamed-claude, provider: claude, model: claude-test }
  - { match: renamed-gpt, provider: gpt, model: gpt-test }
${more}${projects}`;
}

const families = {
  messages: ['anthropic', ''],
  chat: ['openai', '/v1'],
  responses: ['openai', '/v1'],
  gemini: ['gemini', ''],
  embeddings: ['openai', '/v1'],
  gemini_embeddings: ['gemini', ''],
} satisfies Record<DialectName, [family: string, path: string]>;

/** A provider of one dialect, as a YAML flow mapping: it fails as often as it is told to, and each failure is told. */
export function providerOf(dialect: DialectName, url: string, more = ''): string {
  const [family, path] = families[dialect];
  const settings = `retries: { attempts: 1 }, breaker: { failures: 1000 }${more === '' ? '' : `, ${more}`}`;
  return `{ dialect: ${family}, base_url: "${url}${path}", api_key: "\${PROVIDER_KEY}", endpoints: [${dialect}], ${settings} }`;
}

/** A provider of each dialect of conversations at a host, under its name. */
export function providersAt(url: string, { suffix = '', more = '' } = {}): string {
  return textDialects.map((name) => `  ${name}${suffix}: ${providerOf(name, url, more)}`).join('\n');
}

/** Models for them, each a prefix and the name of its provider. */
export function modelsAt(prefix: string, { suffix = '', model = '' } = {}): string {
  const target = model === '' ? '' : `, model: ${model}`;
  return textDialects
    .map((name) => `  - { match: ${prefix}${name}${suffix}, provider: ${name}${suffix}${target} }`)
    .join('\n');
}
