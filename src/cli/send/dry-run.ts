import { gatewayAddress } from '../../client/address.ts';
import type { Prompt, PromptDialect } from '../../client/conversation.ts';
import { phrasings } from '../../client/prompt.ts';
import { requestBody } from '../../client/request-body.ts';
import type { KeyRecord } from '../../config/build/keys.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import { examplesIn } from '../../gateway/offline/explain-request.ts';
import { destinationNamed, type PredictedDecision } from '../../gateway/offline/question.ts';
import { blocked, decisionLines } from '../policy/explain.ts';
import { type LoadedPolicies, loadPolicies } from '../policy/load-policies.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printValue, shownBody } from '../shell/print/print.ts';

interface DryRun {
  readonly method: 'POST';
  readonly path: string;
  /** With what the policies mask or redact, as it leaves the gateway. */
  readonly body: unknown;
  /** What the local configuration's policies decide; null if the key is not in it. */
  readonly policy: (PredictedDecision & { readonly key: string }) | null;
}

/** Prints what would be sent and what the local policies decide. Sends nothing. Throws policy.blocked. */
export async function dryRun(
  prompt: Prompt & { readonly dialect: PromptDialect },
  options: CommonOptions,
  io: Io,
): Promise<void> {
  const path = phrasings[prompt.dialect].path(prompt);
  const asked = requestBody(prompt.dialect, prompt);
  const policies = await loadPolicies(options, io);
  const key = keyOf(policies, io);
  const decided =
    key &&
    (await decideOffline({
      config: policies.config,
      key,
      ...destinationNamed(path),
      body: Buffer.from(JSON.stringify(asked)),
      nowMs: Date.now(),
    }));
  const { predicted, replaced, document } = decided ?? {};
  const body: unknown = replaced === undefined ? asked : JSON.parse(replaced.toString());
  const examples = key && document ? examplesIn(key.policies, document) : {};
  const policy = key && predicted ? { key: key.id, ...predicted, ...examples } : null;
  await printResult({ method: 'POST', path, body, policy }, options, io);
  if (predicted?.decision === 'block') throw blocked(predicted);
}

/** The key whose request it would be: the presented one, else the only one there is. */
function keyOf({ config, findKey, knownKey }: LoadedPolicies, { env }: Io): KeyRecord | undefined {
  const presented = presentedKey(env);
  const known = presented === undefined ? undefined : config.keys.find(presented);
  if (known !== undefined) return known;
  // In sandbox mode every gateway generates its own key.
  const local = config.needsLocalKey ? knownKey('local') : undefined;
  if (local !== undefined) return local;
  return presented === undefined && config.keys.size === 1 ? findKey(undefined) : undefined;
}

function presentedKey(env: Io['env']): string | undefined {
  try {
    return gatewayAddress(env).key;
  } catch {
    return env.GATEWAY_KEY || undefined; // nothing is sent
  }
}

async function printResult(run: DryRun, options: CommonOptions, io: Io): Promise<void> {
  const { method, path, body, policy } = run;
  const text = `${method} ${path}\n${shownBody(body)}\n${policyLines(policy)}`;
  await printValue(run, text, options, io);
}

function policyLines(policy: DryRun['policy']): string {
  if (policy === null)
    return 'policy    not known here: the key is not in this configuration, or in a variable that it may not read before "gateway trust"\n';
  return `${decisionLines(policy, 'policy    ', ` (key ${policy.key})`).join('\n')}\n`;
}
