import type { ScriptedHost } from '../../kit/host.ts';

const families = [
  { name: 'messages', family: 'anthropic', path: '' },
  { name: 'chat', family: 'openai', path: '/v1' },
  { name: 'responses', family: 'openai', path: '/v1' },
];

/** A provider of each dialect at a host, and a model `at-…` at each. */
export function atDialects({ url }: Pick<ScriptedHost, 'url'>): string {
  const providers = families.map(
    ({ name, family, path }) =>
      `  ${name}: { dialect: ${family}, base_url: "${url}${path}", api_key: "\${PROVIDER_KEY}", endpoints: [${name}], retries: { attempts: 1 }, breaker: { failures: 1000 } }`,
  );
  const models = families.map(({ name }) => `  - { match: at-${name}, provider: ${name}, model: m }`);
  return ['providers:', ...providers, 'models:', ...models].join('\n');
}
