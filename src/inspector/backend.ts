import { request } from 'node:http';
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
import { version } from '../version.ts';
import type { PoliciesAnswer, SendAgainAnswer, TryPolicyAnswer } from './contract/actions.ts';
import type { BreakerState, BudgetState, HistoryAnswer } from './contract/now.ts';
import type { DecisionInput, Explained } from './detail/to-detail.ts';
import { KeyPasses } from './key-passes.ts';
import { PageThreads } from './tasks/page-threads.ts';

/** Most bytes of an answer that are read; the live page shows what the ring kept of it. */
const answerLimitBytes = 64 * 1024 * 1024;

interface SentAgain {
  readonly target: string;
  /** The key's id. */
  readonly key: string;
  /** The client's headers that affect a provider's answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends a request to the gateway itself, over its own port; resolves when the head of the answer is here. */
function sendToSelf(
  url: string,
  pass: string,
  { target, headers, body }: SentAgain,
): Promise<SendAgainAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sending = request(
      {
        host: hereOf(hostname),
        port,
        path: target,
        method: 'POST',
        agent: false,
        headers: {
          ...headers,
          'user-agent': `gateway-inspector/${version}`,
          authorization: `Bearer ${pass}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (response) => {
        let read = 0;
        response.on('data', (piece: Buffer) => {
          read += piece.length;
          if (read > answerLimitBytes) response.destroy();
        });
        response.on('error', () => undefined); // the list shows that the answer was cut
        resolve({ id: String(response.headers['x-request-id'] ?? ''), status: response.statusCode ?? 0 });
      },
    );
    sending.on('error', (cause) =>
      reject(
        new GatewayError('gateway.unreachable', 'the gateway did not answer its own request', { cause }),
      ),
    );
    sending.end(body);
  });
}

/** The loopback address for a server that listens on all addresses. */
function hereOf(hostname: string): string {
  if (hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::]' ? '::1' : hostname.replace(/^\[|\]$/g, '');
}

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
    ...(kind === 'period' ? { resets: new Date(nowMs + resetMs).toISOString() } : {}),
    mode: scope.settings.mode,
  };
}

export interface BackendOptions {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly configPath: string | undefined;
  readonly url: () => string;
  readonly gauges: GatewayServer['gauges'];
  readonly counters: Counters;
  readonly ledger: { readonly place: LedgerPlace } | undefined;
  /** Why none is kept. */
  readonly noLedger: () => string;
}

/** Larger bodies are explained in a thread. */
const explainedHereBytes = 64 * 1024;
const endpointNames = [...new Set([...endpoints.values()].filter(isModelEndpoint).map(({ name }) => name))];

export type InspectorBackend = ReturnType<typeof createBackend>;

/** What the live page needs of the gateway and its configuration. */
export function createBackend(options: BackendOptions) {
  const { config, configPath, url, gauges, ledger } = options;
  const budgets = createBudgets(options.counters);
  const passes = new KeyPasses();
  const threads = new PageThreads();
  // Loaded on first use: without a configuration file, serve never loads the YAML parser.
  const file = lazily(async () => new (await import('./tasks/rule-file.ts')).RuleFile());
  const decisionTask = lazily(() => import('./tasks/decision-task.ts'));
  const scrubbers = new WeakMap<Config, (text: string) => string>();
  const policies = () => config().source.settings.policies;
  return {
    passes,
    allowedHosts: () => config().server.allowedHosts,
    /** Whether `records.bodies` is on. */
    keepsBodies: () => config().records.bodies,
    /** Undefined if `inspector.password_file` is not set. */
    password: () => config().inspector.password,
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
    history: async (by: HistoryAnswer['by'], sinceMs: number): Promise<HistoryAnswer> => {
      if (ledger === undefined) throw new GatewayError('inspector.no_ledger', options.noLedger());
      const query = { place: ledger.place, by, sinceMs, nowMs: Date.now() };
      return (await threads.run({ kind: 'history', query })) as HistoryAnswer; // what this task answers
    },
    /** Each rule of the key's policies on a request, by the configuration in force; undefined if that is not known. */
    explain: async (request: DecisionInput): Promise<Explained | undefined> => {
      try {
        if (request.body.length <= explainedHereBytes)
          return (await decisionTask()).explainDetails(config(), request);
        const task = { ...request, source: config().source };
        return (await threads.run({ kind: 'explain', task })) as Explained; // what this task answers
      } catch (error) {
        // The key is gone, or it takes too long: the record has what matched.
        if (error instanceof GatewayError) return undefined;
        throw error;
      }
    },
    /** Where rules are in the file, by their ids. */
    ruleLines: async () => (await file()).lines(configPath, policies()),
    policies: async (): Promise<PoliciesAnswer> => ({
      text: await (await file()).policiesText(configPath, policies()),
      keys: [...config().keys.records()].map(({ id, project }) => ({ id, project })),
      endpoints: endpointNames,
    }),
    /** Decides by scratch rules; nothing is saved. Throws inspector.busy, inspector.too_long. */
    tryPolicy: async (text: string, request: DecisionInput): Promise<TryPolicyAnswer> => {
      const task = { ...request, source: config().source, policies: text };
      return (await threads.run({ kind: 'try', task })) as TryPolicyAnswer; // what this task answers
    },
    /** Sends a request to this gateway with a key, like any other request. */
    sendAgain: (request: SentAgain) => sendToSelf(url(), passes.issue(request.key), request),
  };
}

function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
