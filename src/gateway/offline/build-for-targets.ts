import type { ProviderConfig } from '../../config/build/providers.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { type Decision, replaces, type Subject } from '../../policy/rule.ts';
import { hostOf } from '../../providers/host.ts';
import { translateBody } from '../decision/translate-request.ts';
import { buildBody } from '../outgoing/build-body.ts';
import { dialectAt } from '../targets.ts';
import type { Question, ReadRequest } from './question.ts';

interface About {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: DialectName;
}

/** What would be sent to a target. */
export type BuiltForTarget =
  | (About & { readonly kind: 'own bytes' })
  | (About & { readonly kind: 'built'; readonly subject: Subject })
  | (About & { readonly kind: 'unsupported'; readonly reason: string });

/** What the gateway would send to the targets of a decided request, in their order. */
export function buildForTargets(
  { key, endpoint }: Question,
  { request, facts, entry, targets }: ReadRequest,
  decision: Decision,
): readonly BuiltForTarget[] {
  if (decision.action === 'block') return [];
  const document = decision.redacted ?? request.document;
  const source = { request: { ...request, document }, endpoint, key, facts };
  const redactedBy = decision.verdicts
    .filter(({ action, mode }) => replaces(action) && mode === 'enforce')
    .map(({ policy }) => policy);
  return targets.flatMap(({ provider, model }): BuiltForTarget[] => {
    const dialect = dialectAt(provider, endpoint);
    if (dialect === undefined) return [];
    const about = { target: `${provider.name}/${model}`, dialect };
    if (dialect === endpoint.dialectName) return [{ ...about, kind: 'own bytes' }];
    try {
      const host = hostOf(provider.dialect, hostnameOf(provider));
      const body = buildBody(source, { dialect, model, host, family: provider.dialect, entry });
      const bytes = body.form === 'untranslated' ? translateBody(body).body : body.body;
      const built = { ...facts, redactedBy, document: parseStrictJson(bytes), dialect: dialects[dialect] };
      return [{ ...about, kind: 'built', subject: built }];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return [{ ...about, kind: 'unsupported', reason: error.message }];
    }
  });
}

function hostnameOf({ baseUrl }: ProviderConfig): string {
  return baseUrl === undefined ? '' : new URL(baseUrl).hostname;
}
