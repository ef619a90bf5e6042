import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { createTextScrubber } from '../../gateway/answer/scrub.ts';
import { endpoints, isModelEndpoint } from '../../gateway/endpoints.ts';
import type { GatewayServer } from '../../gateway/serve.ts';
import type { DecisionInput, InspectorBackend } from '../../inspector/backend.ts';
import type { TryPolicyAnswer } from '../../inspector/contract/actions.ts';
import type { RuleDetail } from '../../inspector/contract/exchange-detail.ts';
import type { HistoryAnswer } from '../../inspector/contract/now.ts';
import type { Counters } from '../../limits/counters.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { noLedgerReason } from '../ledger-path.ts';
import { Budgets } from './budgets.ts';
import type { KeyPasses } from './key-passes.ts';
import { PageThreads } from './page-threads.ts';
import { sendToSelf } from './send-again.ts';

export interface BackendOptions {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly configPath: string | undefined;
  readonly url: () => string;
  readonly gauges: GatewayServer['gauges'];
  readonly counters: Counters;
  readonly ledger: { readonly place: LedgerPlace } | undefined;
  readonly passes: KeyPasses;
}

/** Larger bodies are explained in a thread. */
const explainedHereBytes = 64 * 1024;
const endpointNames = [...endpoints.values()].filter(isModelEndpoint).map(({ name }) => name);

/** What the live page needs of the gateway. */
export function createBackend(options: BackendOptions): InspectorBackend {
  const { config, configPath, url, gauges, ledger, passes } = options;
  const budgets = new Budgets(options.counters);
  const threads = new PageThreads();
  // Loaded on first use: without a configuration file, serve never loads the YAML parser.
  const file = lazily(async () => new (await import('./rule-file.ts')).RuleFile());
  const decisionTask = lazily(() => import('./decision-task.ts'));
  const scrubbers = new WeakMap<Config, (text: string) => string>();
  const scrub = (text: string) => {
    const current = config();
    const known = scrubbers.get(current) ?? createTextScrubber(current.secrets);
    scrubbers.set(current, known);
    return known(text);
  };
  const policies = () => config().source.settings.policies;
  return {
    configPath: () => configPath,
    allowedHosts: () => config().server.allowedHosts,
    keepsBodies: () => config().records.bodies,
    password: () => config().inspector.password,
    scrub,
    open: () => gauges().open,
    breakers: () =>
      gauges().providers.map(({ name, isOpen, openModels, active, queued }) => ({
        provider: name,
        state: isOpen ? 'open' : 'closed',
        open_models: openModels,
        active,
        queued,
      })),
    budgets: () => budgets.read(config().limits),
    history: async (by, sinceMs) => {
      if (ledger === undefined) {
        throw new GatewayError('inspector.no_ledger', noLedgerReason(config()));
      }
      const query = { place: ledger.place, by, sinceMs, nowMs: Date.now() };
      return (await threads.run({ kind: 'history', query })) as HistoryAnswer; // what this task answers
    },
    explain: async (request) => {
      const input = toInput(request);
      try {
        if (request.body.length <= explainedHereBytes)
          return (await decisionTask()).explainDetails(config(), input);
        const task = { ...input, source: config().source, policies: undefined };
        return (await threads.run({ kind: 'explain', task })) as readonly RuleDetail[]; // what this task answers
      } catch (error) {
        // The key is gone, or it takes too long: the record has what matched.
        if (error instanceof GatewayError) return undefined;
        throw error;
      }
    },
    ruleLines: async () => (await file()).lines(configPath, policies()),
    policies: async () => {
      threads.prepare(); // to try them
      return {
        text: await (await file()).policiesText(configPath, policies()),
        keys: [...config().keys.records()].map(({ id, project, policies: { names } }) => ({
          id,
          project,
          policies: names,
        })),
        endpoints: endpointNames,
      };
    },
    tryPolicy: async (text, request) => {
      const task = { ...toInput(request), source: config().source, policies: text };
      const answer = threads.run({ kind: 'try', task });
      threads.prepare(); // for the next keystroke
      return (await answer) as TryPolicyAnswer; // what this task answers
    },
    sendAgain: (request) => sendToSelf(url(), passes.issue(request.key), request),
  };
}

function toInput({ body, endpoint, key, atMs }: DecisionInput) {
  return { body, endpoint, key, atMs };
}

function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
