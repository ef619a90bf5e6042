import { sealOrigin } from '../../src/dialects/translation/seals.ts';
import { type ProviderForm, providerForms, textProviders } from './forms.ts';
import { projects } from './gateway.ts';
import { useGoogleLibrary } from './google-library.ts';

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
  bedrock: ['bedrock', ''],
  vertex: ['vertex', '/v1/projects/p/locations/l'],
  vertex_gemini: ['gemini', '/v1/projects/p/locations/l/publishers/google'],
} satisfies Record<ProviderForm, [family: string, path: string]>;

/** A provider of one form, as a YAML flow mapping: it fails as often as it is told to, and each failure is told. */
function providerOf(form: ProviderForm, url: string, more = ''): string {
  const [family, path] = families[form];
  const settings = `retries: { attempts: 1 }, breaker: { failures: 1000 }${more === '' ? '' : `, ${more}`}`;
  if (form === 'vertex') useGoogleLibrary();
  const credential = form === 'vertex' ? 'credentials: google' : `api_key: "\${PROVIDER_KEY}"`;
  return `{ dialect: ${family}, base_url: "${url}${path}", ${credential}, endpoints: [${providerForms[form]}], ${settings} }`;
}

/** A provider of each form of conversations at a host, under its name; each with what `of` has for it as well. */
export function providersAt(
  url: string,
  {
    suffix = '',
    more = '',
    of = {} as Readonly<Partial<Record<ProviderForm, string>>>,
    names = textProviders as readonly ProviderForm[],
  } = {},
): string {
  const moreOf = (name: ProviderForm) => [more, of[name] ?? ''].filter(Boolean).join(', ');
  return names.map((name) => `  ${name}${suffix}: ${providerOf(name, url, moreOf(name))}`).join('\n');
}

/** What names that provider in the seals of its answers. */
export function originAt(url: string, form: ProviderForm, suffix = ''): string {
  return sealOrigin({ name: `${form}${suffix}`, baseUrl: url + families[form][1] });
}

/** Models for them, each a prefix and the name of its provider. */
export function modelsAt(
  prefix: string,
  { suffix = '', model = '', names = textProviders as readonly ProviderForm[] } = {},
): string {
  const target = model === '' ? '' : `, model: ${model}`;
  return names
    .map((name) => `  - { match: ${prefix}${name}${suffix}, provider: ${name}${suffix}${target} }`)
    .join('\n');
}
