import { beforeAll } from 'vitest';
import { startGateway, type TestGateway } from '../../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { saying } from './saying.ts';

const families = [
  { name: 'messages', family: 'anthropic', path: '' },
  { name: 'chat', family: 'openai', path: '/v1' },
  { name: 'responses', family: 'openai', path: '/v1' },
  { name: 'gemini', family: 'gemini', path: '' },
];

/** A provider of each dialect at a host, and a model `at-…` at each. */
function atDialects(url: string): string {
  const providers = families.map(
    ({ name, family, path }) =>
      `  ${name}: { dialect: ${family}, base_url: "${url}${path}", api_key: "\${PROVIDER_KEY}", endpoints: [${name}], retries: { attempts: 1 }, breaker: { failures: 1000 } }`,
  );
  const models = families.map(({ name }) => `  - { match: at-${name}, provider: ${name}, model: m }`);
  return ['providers:', ...providers, 'models:', ...models].join('\n');
}

const usualRules = [
  '{ id: emails, action: mask, when: { text: { detect: [email] } }, reason: content.email }',
  "{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }",
];

interface Options {
  /** The rules that mask. */
  readonly rules?: readonly string[];
  /** Rules of the third key: its own, or beside those that mask. */
  readonly others?: { readonly rules: readonly string[]; readonly areAlone: boolean };
}

/**
 * A host that speaks every dialect, and a gateway in front of it for the tests of a file: what is sent with PROJECT_KEY
 * is masked, what is sent with OTHER_KEY is not; OLD_KEY has other rules.
 */
export function maskedGateway({ rules = usualRules, others }: Options = {}): {
  readonly host: ScriptedHost;
  readonly gateway: TestGateway;
} {
  let host: ScriptedHost;
  let gateway: TestGateway;
  beforeAll(async () => {
    host = await startHost(saying((text) => ({ text })));
    gateway = await startGateway(`${atDialects(host.url)}
policies:
  masking: { rules: [${rules.join(', ')}] }
  others: { rules: [${others?.rules.join(', ') ?? ''}] }
projects:
  shop: { policies: [masking], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  third: { policies: [${others?.areAlone === true ? '' : 'masking, '}others], keys: [{ id: third-web, value: "\${OLD_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
plants: { store: { enabled: false } }
`);
  });
  return {
    get host() {
      return host;
    },
    get gateway() {
      return gateway;
    },
  };
}
