import type { KeyLimits } from '../config/build/keys.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { endpoints, isModelEndpoint } from '../gateway/endpoints.ts';
import { createTextScrubber } from '../gateway/scrub.ts';
import type { GatewayServer } from '../gateway/serve.ts';
import type { Counters } from '../limits/counters.ts';
import { limitTable } from '../limits/limit-table.ts';
import { type LimitState, planLimits, readLimits } from '../limits/limiter.ts';
import { nanoUsdPerUsd } from '../limits/price.ts';
import type { LedgerPlace } from '../record/ledger/ledger-store.ts';
import type { PoliciesResponse, TryPolicyResponse } from './contract/actions.ts';
import type { AgentSessionDetail, AgentSessionList } from './contract/agent-sessions.ts';
import type { BreakerState, BudgetState, HistoryResponse } from './contract/events.ts';
import type { DecisionInput, Explained } from './detail/to-detail.ts';
import { KeyPasses, type SentAgain, sendToSelf } from './send-again.ts';
import { PageThreads } from './tasks/page-threads.ts';

const maxScopes = 100;
/** Milliseconds that readings are cached: counters may be in Redis, which must not be asked for every page every second. */
const freshMs = 2_000;

/** Reads the state of every limit, at most every two seconds. */
function createBudgets(
  counters: Counters,
): (limits: readonly KeyLimits[]) => Promise<readonly BudgetState[]> {
  let states: Promise<readonly BudgetState[]> = Promise.resolve([]);
  let readMs = 0;
  return (limits) => {
    const nowMs = Date.now();
    if (nowMs - readMs >= freshMs) {
      readMs = nowMs;
      // Where the counters are unreachable, the gateway logs it.
      const planned = limits.slice(0, maxScopes).flatMap((scope) => planLimits(scope));
      states = readLimits(counters, planned, nowMs).then(
        (found) => found.map((state) => toState(state, nowMs)),
        () => [],
      );
    }
    return states;
  };
}

function toState({ limit, scope, max, used, resetMs }: LimitState, nowMs: number): BudgetState {
  const { unit, kind } = limitTable[limit];
  const inUnit = (value: number) => (unit === 'nanoUsd' ? value / nanoUsdPerUsd : value);
  return {
    scope: scope.kind,
    name: scope.name,
    limit,
    max: inUnit(max),
    used: inUnit(used),
    resets: kind === 'period' ? new Date(nowMs + resetMs).toISOString() : undefined,
    mode: scope.settings.mode,
  };
}

export interface BackendOptions {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly configPath: string | undefined;
  readonly userPath: string | undefined;
  readonly url: () => string;
  readonly gauges: GatewayServer['gauges'];
  readonly counters: Counters;
  readonly ledger: { readonly place: LedgerPlace } | undefined;
  /** Where exchanges are recorded. */
  readonly recordsFile: string | undefined;
  /** Why none is kept. */
  readonly noLedger: () => string;
}

/** Larger bodies are explained in a thread. */
const explainedHereBytes = 64 * 1024;
const endpointNames = [...new Set([...endpoints.values()].filter(isModelEndpoint).map(({ name }) => name))];

export type InspectorBackend = ReturnType<typeof createBackend>;

/** What the live page needs of the gateway and its configuration. */
export function createBackend(options: BackendOptions) {
  const { config, configPath, userPath, url, gauges, ledger } = options;
  const budgets = createBudgets(options.counters);
  const passes = new KeyPasses();
  const threads = new PageThreads();
  // On first use: without a configuration file, serve never loads the YAML parser.
  const ruleFile = () => import('./tasks/rule-file.ts');
  const scrubbers = new WeakMap<Config, (text: string) => string>();
  const policies = () => config().source.settings.policies;
  return {
    passes,
    /** Scrubs the configured secrets from a text. */
    scrub: (text: string): string => {
      const current = config();
      const scrub = scrubbers.get(current) ?? createTextScrubber(current.secrets);
      scrubbers.set(current, scrub);
      return scrub(text);
    },
    open: () => gauges().open,
    breakers: (): readonly BreakerState[] =>
      gauges().providers.map(({ name, isOpen, openModels, active, queued }) => ({
        provider: name,
        state: isOpen ? 'open' : 'closed',
        open_models: openModels,
        active,
        queued,
      })),
    budgets: () => budgets(config().limits),
    /** Throws inspector.no_ledger. */
    history: async (by: HistoryResponse['by'], sinceMs: number): Promise<HistoryResponse> => {
      if (ledger === undefined) throw new GatewayError('inspector.no_ledger', options.noLedger());
      const query = { place: ledger.place, by, sinceMs, nowMs: Date.now() };
      return (await threads.run({ kind: 'history', query })) as HistoryResponse; // what this task answers
    },
    /** Throws inspector.no_ledger. */
    agentSessions: async (sinceMs: number): Promise<AgentSessionList> => {
      if (ledger === undefined) throw new GatewayError('inspector.no_ledger', options.noLedger());
      const query = { place: ledger.place, sinceMs };
      return (await threads.run({ kind: 'sessions', query })) as AgentSessionList; // what this task answers
    },
    /** Throws inspector.no_ledger, inspector.unknown. */
    agentSession: async (session: string, key: string): Promise<AgentSessionDetail> => {
      if (ledger === undefined) throw new GatewayError('inspector.no_ledger', options.noLedger());
      const query = { place: ledger.place, session, key, records: options.recordsFile };
      return (await threads.run({ kind: 'session', query })) as AgentSessionDetail; // what this task answers
    },
    /** Each rule of the key's policies on a request, by the configuration in force; undefined if that is not known. */
    explain: async (request: DecisionInput): Promise<Explained | undefined> => {
      try {
        if (request.body.length <= explainedHereBytes) {
          const { explainDetails } = await import('./tasks/decision-task.ts');
          return await explainDetails(config(), request);
        }
        const task = { ...request, source: config().source };
        return (await threads.run({ kind: 'explain', task })) as Explained; // what this task answers
      } catch (error) {
        // The key is gone, or it takes too long: the record has what matched.
        if (error instanceof GatewayError) return undefined;
        throw error;
      }
    },
    /** Where rules are in the file, by their ids. */
    ruleLines: async () => (await ruleFile()).readRuleLines({ configPath, userPath }, policies()),
    policies: async (): Promise<PoliciesResponse> => ({
      text: await (await ruleFile()).readPolicies(configPath, policies()),
      keys: [...config().keys.records()].map(({ id, project }) => ({ id, project })),
      endpoints: endpointNames,
    }),
    /** Decides by scratch rules; nothing is saved. Throws inspector.busy, inspector.too_long. */
    tryPolicy: async (text: string, request: DecisionInput): Promise<TryPolicyResponse> => {
      const task = { ...request, source: config().source, policies: text };
      return (await threads.run({ kind: 'try', task })) as TryPolicyResponse; // what this task answers
    },
    /** Sends a request to this gateway with a key, like any other request. */
    sendAgain: (request: SentAgain) => sendToSelf(url(), passes.issue(request.key), request),
  };
}
