import { request } from 'node:http';
import type { KeyLimits } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { endpoints, isModelEndpoint } from '../../gateway/endpoints.ts';
import { createTextScrubber } from '../../gateway/scrub.ts';
import type { GatewayServer } from '../../gateway/serve.ts';
import type { Explained, InspectorBackend, SentAgain } from '../../inspector/backend.ts';
import type { SendAgainAnswer, TryPolicyAnswer } from '../../inspector/contract/actions.ts';
import type { BudgetState, HistoryAnswer } from '../../inspector/contract/now.ts';
import type { Counters } from '../../limits/counters.ts';
import { limitTable } from '../../limits/limit-table.ts';
import type { LimitState } from '../../limits/limiter.ts';
import { nanoUsdPerUsd } from '../../limits/price.ts';
import { peekLimits } from '../../limits/read-budgets.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { version } from '../../version.ts';
import { noLedgerReason } from '../ledger-path.ts';
import type { KeyPasses } from './key-passes.ts';
import { PageThreads } from './page-threads.ts';

/** Most bytes of an answer that are read; the live page shows what the ring kept of it. */
const answerLimitBytes = 64 * 1024 * 1024;

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
      states = readBudgets(counters, limits.slice(0, maxScopes), nowMs).catch(() => []);
    }
    return states;
  };
}

async function readBudgets(
  counters: Counters,
  scopes: readonly KeyLimits[],
  nowMs: number,
): Promise<readonly BudgetState[]> {
  const states = await Promise.all(
    scopes.map(async (scope) => {
      const limits = await peekLimits(counters, scope, nowMs);
      return limits.map((state) => toState(state, scope.settings.mode, nowMs));
    }),
  );
  return states.flat();
}

function toState({ limit, scope, max, used, resetMs }: LimitState, mode: string, nowMs: number): BudgetState {
  const { unit, kind } = limitTable[limit];
  const inUnit = (value: number) => (unit === 'nanoUsd' ? value / nanoUsdPerUsd : value);
  return {
    scope: scope.kind,
    name: scope.name,
    limit,
    max: inUnit(max),
    used: inUnit(used),
    ...(kind === 'period' ? { resets: new Date(nowMs + resetMs).toISOString() } : {}),
    mode,
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
  readonly passes: KeyPasses;
}

/** Larger bodies are explained in a thread. */
const explainedHereBytes = 64 * 1024;
const endpointNames = [...new Set([...endpoints.values()].filter(isModelEndpoint).map(({ name }) => name))];

/** What the live page needs of the gateway. */
export function createBackend(options: BackendOptions): InspectorBackend {
  const { config, configPath, url, gauges, ledger, passes } = options;
  const budgets = createBudgets(options.counters);
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
    budgets: () => budgets(config().limits),
    history: async (by, sinceMs) => {
      if (ledger === undefined) {
        throw new GatewayError('inspector.no_ledger', noLedgerReason(config()));
      }
      const query = { place: ledger.place, by, sinceMs, nowMs: Date.now() };
      return (await threads.run({ kind: 'history', query })) as HistoryAnswer; // what this task answers
    },
    explain: async (request) => {
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
    ruleLines: async () => (await file()).lines(configPath, policies()),
    policies: async () => ({
      text: await (await file()).policiesText(configPath, policies()),
      keys: [...config().keys.records()].map(({ id, project }) => ({ id, project })),
      endpoints: endpointNames,
    }),
    tryPolicy: async (text, request) => {
      const task = { ...request, source: config().source, policies: text };
      return (await threads.run({ kind: 'try', task })) as TryPolicyAnswer; // what this task answers
    },
    sendAgain: (request) => sendToSelf(url(), passes.issue(request.key), request),
  };
}

function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
