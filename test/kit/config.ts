import { projects } from './gateway.ts';

interface Options {
  readonly anthropic: string;
  readonly openai: string;
  /** Lines for `server:`, indented by two spaces. */
  readonly server?: string;
  /** Further settings of both providers, as YAML flow entries. */
  readonly provider?: string;
}

/** A configuration with one host of each family, each with a key, and a model that is renamed on the way. */
export function twoHosts({ anthropic, openai, server = '  port: 0', provider = '' }: Options): string {
  const more = provider === '' ? '' : `, ${provider}`;
  return `
server:
${server}
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}"${more} }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}"${more} }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: embed, provider: gpt }
  - { match: renamed-claude, provider: claude, model: claude-test }
  - { match: renamed-gpt, provider: gpt, model: gpt-test }
${projects}`;
}
