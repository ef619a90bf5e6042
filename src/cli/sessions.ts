import type { Command } from 'commander';
import { GatewayError } from '../errors.ts';
import { agentTree, type InTree } from '../lib/agent-tree.ts';
import { nanoUsdPerUsd } from '../limits/price.ts';
import type { LedgerRow } from '../record/ledger/ledger-row.ts';
import { anyKey, type LedgerPlace } from '../record/ledger/ledger-store.ts';
import type { SessionSum } from '../record/ledger/session-report.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  durationArgument,
  positiveInteger,
  usdArgument,
} from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { localMinute, note, printValue } from './shell/print/print.ts';
import { alignedUsd, isTable, rowsText } from './shell/print/table.ts';
import { recordsFile } from './shell/running-configuration.ts';
import { amountsText, cachedShare } from './usage/amounts-text.ts';
import { fromLedger, type UsageLedger } from './usage/from-ledger.ts';

interface ListOptions extends CommonOptions {
  readonly since: number;
  readonly limit: number;
}

interface ShowOptions extends CommonOptions {
  readonly key?: string;
  readonly limit: number;
}

interface RaiseOptions extends CommonOptions {
  readonly key?: string;
  readonly tokens?: number;
  readonly requests?: number;
}

const weekMs = 604_800_000;
/** Most agents' next turn comes sooner. */
const activeMs = 300_000;
/** For `show`, that looks for one of any age. */
const everMs = 0;

export function build(io: Io): Command {
  const sessions = createCommand({
    name: 'sessions',
    summary: "list agents' sessions, with what each used, from the ledger",
    examples: ['gateway sessions', 'gateway sessions --since 24h -o json', 'gateway sessions show 7143c744'],
  })
    .option('--since <duration>', 'those with a request within 90m, 24h, 7d or 4w', durationArgument, weekMs)
    .option('-n, --limit <n>', 'print at most this many, the latest', positiveInteger, 20)
    .action(async (_options: unknown, command: Command) => {
      await list(commonOptions(command) as ListOptions, io);
    });
  sessions.addCommand(
    createCommand({
      name: 'show',
      summary: 'show the requests of one session: who sent them, tokens, cost',
      examples: [
        'gateway sessions show 7143c744',
        'gateway sessions show 7143c744-8fbc-42fd-8082-1ad09b9f1678 -n 500',
        'gateway sessions show nightly-7 --key shop-web -o json',
      ],
    })
      .argument('<id>', 'the session, as "gateway sessions" lists it, or how its name begins')
      .option('--key <id>', "this key's, where several keys have one of that name")
      .option('-n, --limit <n>', 'print at most this many requests, the latest', positiveInteger, 100)
      .action(async (id: string, _options: unknown, command: Command) => {
        await show(id, commonOptions(command) as ShowOptions, io);
      }),
  );
  sessions.addCommand(
    createCommand({
      name: 'raise',
      summary: 'let a session or a run go on that has used up what it may',
      examples: [
        'gateway sessions raise 7143c744 5',
        'gateway sessions raise run-5b2ce1f0a97d --requests 200',
        'gateway sessions raise nightly-7 --key shop-web --tokens 1000000',
      ],
    })
      .argument('<id>', 'the session, as "gateway sessions" lists it, or how its name begins; or a run')
      .argument('[usd]', 'add this many US$ to what it may use', usdArgument)
      .option('--tokens <n>', 'add this many to its tokens_per_session', positiveInteger)
      .option('--requests <n>', 'add this many to its requests', positiveInteger)
      .option('--key <id>', "this key's, where several keys have one of that name")
      .action(async (id: string, usd: number | undefined, _options: unknown, command: Command) => {
        await raise(id, usd, commonOptions(command) as RaiseOptions, io);
      }),
  );
  return sessions;
}

const listHeader = ['SESSION', 'AGENT', 'KEY', 'STARTED', 'LAST', 'STATE'];
const amountHeader = ['REQUESTS', 'INPUT', 'CACHED', 'OUTPUT', 'USD'];
const narrowedFirst = ['SESSION', 'STARTED', 'KEY', 'STATE'];

async function list({ since, limit, ...options }: ListOptions, io: Io): Promise<void> {
  const nowMs = Date.now();
  const read = async ({ place }: UsageLedger) => {
    const { readSessions } = await import('../record/ledger/read-ledger.ts');
    return readSessions(place, { sinceMs: nowMs - since, limit });
  };
  const nothing = 'no request named a session: agents do by themselves, others by x-gateway-session';
  const sums = await fromLedger(options, io, read, { nothing });
  const costs = alignedUsd(sums.map(({ cost_usd }) => cost_usd));
  const isForPeople = isTable(options, io);
  const rows = sums.map((sum, i) => [
    ...[sum.session, sum.agent || '-', sum.key],
    ...[sum.started_ms, sum.last_ms].map((ms) =>
      isForPeople ? localMinute(ms) : new Date(ms).toISOString(),
    ),
    stateOf(sum, nowMs),
    ...[sum.requests, sum.input_tokens].map(String),
    isForPeople ? cachedShare(sum) : String(sum.cache_read_tokens),
    String(sum.output_tokens),
    isForPeople ? (costs[i] ?? '') : String(sum.cost_usd),
  ]);
  const text = rowsText([...listHeader, ...amountHeader], rows, options, io, narrowedFirst);
  await printValue(
    sums.map((sum) => toValue(sum, nowMs)),
    text,
    options,
    io,
  );
}

/** `active`: its last request began within five minutes. */
function stateOf({ last_ms: lastMs }: SessionSum, nowMs: number): 'active' | 'idle' {
  return nowMs - lastMs < activeMs ? 'active' : 'idle';
}

/** With the names that scripts see. */
function toValue({ started_ms: startedMs, last_ms: lastMs, ...sum }: SessionSum, nowMs: number) {
  return {
    ...sum,
    started: new Date(startedMs).toISOString(),
    last: new Date(lastMs).toISOString(),
    state: stateOf({ ...sum, started_ms: startedMs, last_ms: lastMs }, nowMs),
  };
}

const turnHeader = ['TIME', 'SUBAGENT', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'USD', 'MS', 'OUTCOME', 'ID'];

async function show(wanted: string, { key, limit, ...options }: ShowOptions, io: Io): Promise<void> {
  const read = async ({ place }: UsageLedger) => {
    const { readTurns } = await import('../record/ledger/read-ledger.ts');
    const sum = await findSession(place, wanted, key);
    const records = await recordsFile(options, io);
    const turns = await readTurns(
      { place, records },
      { session: sum.session, limit, sinceMs: sum.started_ms, untilMs: sum.last_ms },
    );
    return [{ sum, turns: turns.filter(({ key_id }) => key_id === sum.key) }];
  };
  const [found] = await fromLedger(options, io, read, { isFailure: true });
  if (found === undefined) return;
  const { sum, turns } = found;
  const costs = alignedUsd(turns.map(usdOf));
  const isForPeople = isTable(options, io);
  const rows = turns.map((turn, i) => [
    isForPeople ? localMinute(turn.started_ms) : new Date(turn.started_ms).toISOString(),
    turn.subagent ?? '-',
    turn.model,
    String(turn.input_tokens),
    isForPeople ? cachedShare(turn) : String(turn.cache_read_tokens),
    String(turn.output_tokens),
    turn.nano_usd === null ? '-' : isForPeople ? (costs[i] ?? '') : String(usdOf(turn)),
    String(Math.round(turn.total_ms ?? 0)),
    turn.reason ?? turn.outcome,
    turn.request_id,
  ]);
  const text = rowsText(turnHeader, rows, options, io, ['ID', 'SUBAGENT', 'MODEL']);
  const agents = agentTree(agentsOf(turns));
  const value = {
    ...toValue(sum, Date.now()),
    agents: agents.map(({ depth: _, subagent = null, parent = null, ...used }) => ({
      subagent,
      parent,
      ...used,
    })),
    turns: turns.map(({ started_ms: startedMs, nano_usd, ...turn }) => ({
      time: new Date(startedMs).toISOString(),
      ...turn,
      cost_usd: nano_usd === null ? null : nano_usd / nanoUsdPerUsd,
    })),
  };
  await printValue(value, text, options, io);
  if (!isForPeople || options.quiet === true) return;
  if (agents.length > 1) await note(agents.map(agentLine).join(''), io);
  await note(`${amountsText(sum)}\n`, io);
}

/** What one agent of a session used, as far as it is among some turns. */
interface AgentSum
  extends Pick<SessionSum, 'requests' | 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'unpriced'> {
  /** Undefined for the main one. */
  readonly subagent: string | undefined;
  readonly parent: string | undefined;
  /** Excludes requests whose price is not known. */
  readonly cost_usd: number;
}

/** As they came. */
function agentsOf(turns: readonly LedgerRow[]): readonly AgentSum[] {
  const agents = new Map<string | null, AgentSum>();
  const none = {
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cost_usd: 0,
    unpriced: 0,
  };
  for (const turn of turns) {
    const { subagent, parent } = turn;
    const so = agents.get(subagent) ?? {
      ...none,
      subagent: subagent ?? undefined,
      parent: parent ?? undefined,
    };
    agents.set(subagent, {
      subagent: so.subagent,
      parent: so.parent ?? parent ?? undefined,
      requests: so.requests + 1,
      input_tokens: so.input_tokens + turn.input_tokens,
      output_tokens: so.output_tokens + turn.output_tokens,
      cache_read_tokens: so.cache_read_tokens + turn.cache_read_tokens,
      cost_usd: so.cost_usd + usdOf(turn),
      unpriced: so.unpriced + (turn.nano_usd === null ? 1 : 0),
    });
  }
  return [...agents.values()];
}

function agentLine({ subagent = 'main agent', depth, ...used }: InTree<AgentSum>): string {
  return `${'  '.repeat(depth)}${subagent}: ${amountsText(used)}\n`;
}

/** Keys that use one name for sessions. */
const maxKeys = 100;
/** Sessions that are looked through for one by the beginning of its name. */
const maxListed = 10_000;

/** Throws usage.invalid for a name that no session begins with, or several do. */
async function findSession(place: LedgerPlace, wanted: string, key: string | undefined): Promise<SessionSum> {
  const { readSessions } = await import('../record/ledger/read-ledger.ts');
  const exact = await readSessions(place, { sinceMs: everMs, limit: maxKeys, session: wanted });
  if (exact.length > 0) return chosen(wanted, key, exact);
  const latest = await readSessions(place, { sinceMs: everMs, limit: maxListed });
  return chosen(
    wanted,
    key,
    latest.filter(({ session }) => session.startsWith(wanted)),
  );
}

/** As `gateway run` names its runs. */
const runName = /^run-[0-9a-f]{12}$/;

/** A gateway that refuses the session or run looks for it then. */
async function raise(
  wanted: string,
  usd: number | undefined,
  { key, tokens, requests, ...options }: RaiseOptions,
  io: Io,
): Promise<void> {
  const amounts = [
    { limit_name: 'usd_per_session', amount: usd === undefined ? 0 : Math.round(usd * nanoUsdPerUsd) },
    { limit_name: 'tokens_per_session', amount: tokens ?? 0 },
    { limit_name: 'requests_per_session', amount: requests ?? 0 },
  ].filter(({ amount }) => amount > 0);
  if (amounts.length === 0)
    throw new GatewayError(
      'usage.invalid',
      'by how much? give an amount in US$, --tokens or --requests, as in: gateway sessions raise ID 5',
    );
  const write = async ({ place }: UsageLedger) => {
    // A run is in no ledger by its name, which no two have.
    const sum = runName.test(wanted)
      ? { session: wanted, key: anyKey }
      : await findSession(place, wanted, key);
    const { openStore } = await import('../record/ledger/open-store.ts');
    const store = await openStore(place);
    try {
      for (const each of amounts) await store.raise({ session: sum.session, key_id: sum.key, ...each });
    } finally {
      await store.close();
    }
    return [sum];
  };
  const [found] = await fromLedger(options, io, write, { isFailure: true });
  if (found === undefined) return;
  const value = {
    session: found.session,
    ...(found.key !== anyKey && { key: found.key }),
    raised: { ...(usd !== undefined && { usd }), ...(tokens && { tokens }), ...(requests && { requests }) },
  };
  await printValue(value, '', options, io);
  if (options.quiet !== true)
    await note(
      `${found.key === anyKey ? found.session : `session ${found.session} of key ${found.key}`} may go on: send its last request again\n`,
      io,
    );
}

function chosen(wanted: string, key: string | undefined, found: readonly SessionSum[]): SessionSum {
  const [sum, ...others] = key === undefined ? found : found.filter((each) => each.key === key);
  if (sum === undefined) {
    const whose = key === undefined ? '' : ` of key ${key}`;
    throw new GatewayError(
      'log.unknown',
      `there is no session ${wanted}${whose} in the ledger; "gateway sessions" lists the latest`,
    );
  }
  if (others.length > 0) {
    const isOneName = others.every(({ session }) => session === sum.session);
    const names = [sum, ...others.slice(0, 4)]
      .map((each) => (isOneName ? each.key : each.session))
      .join(', ');
    const advice = isOneName ? `say whose with --key: ${names}` : `write more of one: ${names}`;
    throw new GatewayError('usage.invalid', `${found.length} sessions are meant by ${wanted}; ${advice}`);
  }
  return sum;
}

/** Of a turn whose price is known. */
function usdOf({ nano_usd: nanoUsd }: LedgerRow): number {
  return (nanoUsd ?? 0) / nanoUsdPerUsd;
}
