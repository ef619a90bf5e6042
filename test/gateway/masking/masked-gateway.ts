import { modelsAt, providersAt } from '../../kit/config.ts';
import { startGateway, type TestGateway } from '../../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { saying } from './saying.ts';

export const maskSecret = 'a-secret-of-the-team-long-enough';

interface Options {
  /** The rules that mask. */
  readonly rules: readonly string[];
  /** Rules of the third key: its own, or beside those that mask. */
  readonly others: { readonly rules: readonly string[]; readonly areAlone: boolean };
}

/**
 * A host that speaks every dialect, and a gateway in front of it for the tests of a file: what is sent with PROJECT_KEY
 * is masked, what is sent with OTHER_KEY is not; OLD_KEY has other rules.
 */
export async function maskedGateway({ rules, others }: Options): Promise<{
  readonly host: ScriptedHost;
  readonly gateway: TestGateway;
}> {
  const host = await startHost(saying((text) => ({ text })));
  const gateway = await startGateway(`
providers:
${providersAt(host.url, { of: { chat: 'host: openrouter' } })}
models:
${modelsAt('at-', { model: 'm' })}
  - { match: fails, provider: chat, fallbacks: [{ provider: messages, model: m }] }
masking: { secret: ${maskSecret} }
policies:
  masking: { rules: [${rules.join(', ')}] }
  others: { rules: [${others.rules.join(', ')}] }
projects:
  shop: { policies: [masking], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  third: { policies: [${others.areAlone ? '' : 'masking, '}others], keys: [{ id: third-web, value: "\${OLD_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
plants: { store: { enabled: false } }
`);
  return { host, gateway };
}
