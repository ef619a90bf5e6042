import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sumsOf } from '../../src/record/ledger/ledger-columns.ts';
import { openLedgerFile } from '../../src/record/ledger/ledger-file.ts';
import type { LedgerRow } from '../../src/record/ledger/ledger-row.ts';
import { command, directoryWith, failure } from '../kit/command.ts';
import { row as anyRow } from '../record/ledger/rows.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const turn = (id: number, values: Partial<LedgerRow>): LedgerRow => ({
  ...anyRow(`req_${id}`),
  started_ms: Date.now() - hourMs + id,
  session: 'alpha-1',
  agent: 'claude',
  input_tokens: 100,
  cache_read_tokens: 0,
  output_tokens: 10,
  new_tokens: 110,
  nano_usd: 2_000_000,
  ...values,
});

async function home(rows: readonly LedgerRow[]): Promise<string> {
  const cwd = directoryWith('records: { ledger: true }\n');
  mkdirSync(join(cwd, '.local/state/gateway'), { recursive: true, mode: 0o700 });
  const file = await openLedgerFile(join(cwd, '.local/state/gateway/ledger.sqlite'));
  file.add({ rows });
  file.close();
  return cwd;
}

const some = [
  turn(1, { started_ms: Date.now() - 40 * hourMs }),
  turn(2, { cache_read_tokens: 80, new_tokens: 38, subagent: 'explorer' }),
  turn(3, { nano_usd: null, cache_read_tokens: 60, new_tokens: 56 }),
  turn(4, { session: 'beta-2', agent: 'codex', started_ms: Date.now() - minuteMs }),
  turn(5, { session: 'alpha-1', key_id: 'shop-other' }),
  turn(6, { session: 'old-3', agent: null, started_ms: Date.now() - 20 * 24 * hourMs }),
  turn(7, { session: null, agent: 'claude' }),
];

const sessions = async (line: string, environment = {}) =>
  command(`sessions ${line}`.trim(), { cwd: await home(some), ...environment });

test('sessions are listed from the latest on, whole even if they began before', async () => {
  const { json } = await sessions('-o json --since 24h');

  const found = json as Record<string, unknown>[];
  expect(found.map(({ session, key }) => [session, key])).toEqual([
    ['beta-2', 'shop-web'],
    ['alpha-1', 'shop-other'],
    ['alpha-1', 'shop-web'],
  ]);
  expect(found[2]).toMatchObject({
    ...{ agent: 'claude', project: 'shop', requests: 3, input_tokens: 300, output_tokens: 30 },
    ...{ cache_read_tokens: 140, new_tokens: 204, cost_usd: 0.004, unpriced: 1, state: 'idle' },
    started: new Date(some[0]?.started_ms ?? 0).toISOString(),
    last: new Date(some[2]?.started_ms ?? 0).toISOString(),
  });
  expect(found[0]).toMatchObject({ agent: 'codex', state: 'active' });
});

test('a table shows the share of the cache, and -n bounds it', async () => {
  const { stdout } = await sessions('--since 4w', { isTerminal: true, columns: 200 });

  expect(stdout.split('\n')[0]).toMatch(/^SESSION +AGENT +KEY +STARTED +LAST +STATE +REQUESTS +INPUT/);
  expect(stdout).toMatch(/alpha-1 +claude +shop-web .* idle +3 +300 +46 % +30 +0\.00/);
  expect(stdout).toMatch(/old-3 +- +shop-web/);
  expect((await sessions('-n 1')).stdout.trim().split('\n')).toHaveLength(1);
});

test('show has a row for each request, and finds a session by how its name begins', async () => {
  const { json } = await sessions('show alpha-1 --key shop-web -o json');

  expect(json).toMatchObject({ session: 'alpha-1', requests: 3 });
  const { turns } = json as {
    turns: { request_id: string; subagent: string | null; cost_usd: number | null }[];
  };
  expect(turns.map(({ request_id, subagent, cost_usd }) => [request_id, subagent, cost_usd])).toEqual([
    ['req_1', null, 0.002],
    ['req_2', 'explorer', 0.002],
    ['req_3', null, null],
  ]);
  expect((await sessions('show beta -o json')).json).toMatchObject({ session: 'beta-2' });
});

test('show has the agents as a tree, each behind the one that started it', async () => {
  const agents = [
    turn(1, {}),
    turn(2, { subagent: 'planner' }),
    turn(3, { subagent: 'reader', parent: 'planner' }),
    turn(4, { subagent: 'writer', parent: 'gone' }),
    turn(5, { subagent: 'planner', nano_usd: null }),
  ];
  const show = async (line: string, environment = {}) =>
    command(`sessions show alpha-1 ${line}`.trim(), { cwd: await home(agents), ...environment });

  const { json } = await show('-o json');
  const { stderr } = await show('', { isTerminal: true, columns: 200 });

  const found = (json as { agents: Record<string, unknown>[] }).agents;
  expect(found.map(({ subagent, parent, requests }) => [subagent, parent, requests])).toEqual([
    [null, null, 1],
    ['planner', null, 2],
    ['reader', 'planner', 1],
    ['writer', 'gone', 1],
  ]);
  expect(stderr).toMatch(/^main agent: 1 request, .*\n {2}planner: 2 requests, .*\n {4}reader: 1 request, /m);
});

test('show ends with what the session used', async () => {
  const { stdout, stderr } = await sessions('show beta-2', { isTerminal: true, columns: 200 });

  expect(stdout).toMatch(/codex|TIME/);
  expect(stderr).toContain('1 request, 100 tokens in, 10 out, US$ 0.002');
});

test.each([
  ['show nothing', 5, 'there is no session nothing in the ledger'],
  ['show alpha-1', 2, 'say whose with --key: shop-other, shop-web'],
  ['show alpha-1 --key none', 5, 'there is no session alpha-1 of key none'],
])('%s fails with %i', async (line, exit, message) => {
  expect(await sessions(line)).toEqual(failure(exit, message));
});

test.each(['show alpha-1', 'raise alpha-1 5', 'raise run-0123456789ab 5'])(
  '%s fails in sandbox mode, which has no ledger; the list is empty',
  async (line) => {
    expect(await command(`sessions ${line}`)).toEqual(failure(2, 'no ledger is kept in sandbox mode'));
    expect(await command('sessions')).toEqual(failure(0, 'no ledger is kept in sandbox mode'));
  },
);

test('usage by session names the key too, and what names none stays in the sum', async () => {
  const usage = async (line: string) => command(`usage ${line}`, { cwd: await home(some) });

  expect((await usage('--by session --csv')).stdout.split('\r\n').slice(0, 4)).toEqual([
    expect.stringMatching(/^session,key,requests,input_tokens/),
    expect.stringMatching(/^,shop-web,1,100/),
    expect.stringMatching(/^alpha-1,shop-other,1,100/),
    expect.stringMatching(/^alpha-1,shop-web,3,300/),
  ]);
  expect((await usage('--by agent --since 4w -o json')).json).toMatchObject([
    { agent: '', requests: 1 },
    { agent: 'claude', requests: 5 },
    { agent: 'codex', requests: 1 },
  ]);
});

test('show has requests that the ledger has only summed up from the records, once, and those of a crash from the ledger', async () => {
  const cwd = directoryWith('records: { ledger: true, file: records.jsonl }\n');
  mkdirSync(join(cwd, '.local/state/gateway'), { recursive: true, mode: 0o700 });
  const file = await openLedgerFile(join(cwd, '.local/state/gateway/ledger.sqlite'));
  const startedMs = Date.now() - 60 * hourMs;
  const turns = [1, 2, 3].map((number) => turn(number, { started_ms: startedMs + number }));
  file.add({ segment: { owner: 'o', number: 1 }, sums: sumsOf(turns) });
  file.add({ rows: [turn(4, { started_ms: startedMs + 4, outcome: 'unknown' })] });
  file.close();
  const record = (number: number, more: object) => ({
    time: new Date(startedMs + number).toISOString(),
    ...{
      request_id: turn(number, {}).request_id,
      method: 'POST',
      path: '/v1/messages',
      endpoint: 'messages',
    },
    ...{
      project: 'shop',
      key: 'shop-web',
      agent: 'claude',
      session: 'alpha-1',
      subagent: 'explorer',
      model: 'm',
    },
    ...{ provider: 'host', provider_key: 'work', target_model: 'm', status: 200, outcome: 'answered' },
    ...{ bytes_in: 1, bytes_out: 1, usage: { input_tokens: 100, output_tokens: 10, cache_read_tokens: 7 } },
    ...{ cost_usd: 0.002, first_byte_ms: 1.5, total_ms: 2.5, config: 'hash', ...more },
  });
  const records = [
    record(0, { request_id: 'req_before', time: new Date(startedMs - hourMs).toISOString() }),
    record(1, {}),
    record(2, { usage: undefined, cost_usd: undefined, outcome: 'failed', reason: 'provider.timeout' }),
    record(5, { request_id: 'req_refused', provider: undefined, outcome: 'refused' }),
    record(6, { request_id: 'req_count', endpoint: 'count_tokens' }),
    record(7, { request_id: 'req_other', key: 'shop-other' }),
    record(8, { request_id: 'req_another', session: 'alpha-10' }),
  ];
  const write = (name: string, given: readonly object[]) =>
    writeFileSync(join(cwd, name), given.map((each) => `${JSON.stringify(each)}\n`).join(''));
  write('records.2026-01-01.jsonl', records.slice(0, 2));
  write('records.2026-01-02.jsonl', records.slice(2));
  // Of a time when the session was over, so it isn't read.
  write('records.jsonl', [
    record(9, { request_id: 'req_late', time: new Date(startedMs + 30 * hourMs).toISOString() }),
  ]);

  const { json } = await command('sessions show alpha-1 -o json', { cwd });

  const { requests, turns: shown } = json as { requests: number; turns: Record<string, unknown>[] };
  expect(requests).toBe(4);
  expect(shown.map(({ request_id, outcome }) => [request_id, outcome])).toEqual([
    [turn(1, {}).request_id, 'answered'],
    [turn(2, {}).request_id, 'failed'],
    [turn(4, {}).request_id, 'unknown'],
  ]);
  expect(shown[0]).toMatchObject({
    ...{
      key_id: 'shop-web',
      subagent: 'explorer',
      provider: 'host/work',
      input_tokens: 100,
      output_tokens: 10,
    },
    ...{ cache_read_tokens: 7, cost_usd: 0.002, total_ms: 2.5 },
  });
  expect(shown[1]).toMatchObject({ input_tokens: 0, cost_usd: 0, reason: 'provider.timeout' });
});
