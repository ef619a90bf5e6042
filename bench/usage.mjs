#!/usr/bin/env node
// npm run build:modules && node bench/usage.mjs [--rows 1000000] [--rounds 5] [--sqlite]: what `gateway usage` takes over a week of a million
// rows, from SQLite and from PostgreSQL, and the live page's list of sessions. Rows are of 10 projects with 5 keys each, 8
// models and sessions of 100 requests each, spread evenly over the week. Fails if sums by session take more than 1.5 times
// the CPU time of those by key (of the command and of PostgreSQL), or the list of sessions more than 200 ms.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { startPostgres } from './postgres.mjs';
import { statFields } from './processes.mjs';
import { median } from './summarize.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const rows = option('rows', 1_000_000);
const rounds = option('rounds', 5);
const perSession = 100;
const bin = join(import.meta.dirname, '../bin/gateway.js');
const folder = mkdtempSync(join(tmpdir(), 'gateway-usage-'));
const postgres = process.argv.includes('--sqlite') ? undefined : await startPostgres();

try {
  const places = [
    { name: 'SQLite', ledger: 'ledger: true', fill: fillSqlite },
    ...(postgres === undefined
      ? []
      : [{ name: 'PostgreSQL', ledger: `ledger_database: "${postgres.url}"`, fill: fillPostgres }]),
  ];
  const report = [];
  for (const { name, ledger, fill } of places) {
    const home = join(folder, name);
    mkdirSync(home);
    writeFileSync(
      join(home, 'gateway.yaml'),
      `records: { ${ledger} }\nproviders: { p: { dialect: openai, base_url: "http://127.0.0.1:1/v1" } }
models: [{ match: "*", provider: p }]\nprojects: { b: { keys: [{ id: b, value: "\${BENCH_KEY}" }] } }
plants: { store: { enabled: false } }\n`,
      { mode: 0o600 },
    );
    await fill(home);
    for (const by of ['project', 'key', 'model', 'day', 'session']) {
      const cpuBefore = await endedCpuMs();
      const times = Array.from({ length: rounds }, () => {
        const startedAt = performance.now();
        const text = execFileSync(
          process.execPath,
          [bin, 'usage', '--by', by, '--since', '8d', '-o', 'json'],
          {
            cwd: home,
            env: environment(home),
            maxBuffer: 64 * 2 ** 20,
          },
        );
        const requests = JSON.parse(text).reduce((sum, each) => sum + each.requests, 0);
        if (requests !== rows) throw new Error(`${name}: ${requests} requests of ${rows}`);
        return performance.now() - startedAt;
      });
      report.push({
        ledger: name,
        by,
        'CPU ms': Math.round(((await endedCpuMs()) - cpuBefore) / rounds),
        'ms (median)': Math.round(median(times)),
        'ms (most)': Math.round(Math.max(...times)),
      });
    }
  }
  console.table(report);
  for (const { name } of places) {
    const [byKey, bySession] = ['key', 'session'].map((by) =>
      report.find((each) => each.ledger === name && each.by === by),
    );
    const ratio = bySession['CPU ms'] / byKey['CPU ms'];
    console.log(`${name}: sums by session take ${ratio.toFixed(2)} times the CPU time of those by key`);
    if (ratio > 1.5) process.exitCode = 1;
  }
  const { listSessions } = await import('../build/inspector/tasks/agent-sessions.js');
  const path = join(folder, 'SQLite/.local/state/gateway/ledger.sqlite');
  const query = { place: { path, journal: `${path}.journal` }, sinceMs: Date.now() - 30 * 86_400_000 };
  const times = [];
  for (let i = 0; i < rounds; i += 1) {
    const startedAt = performance.now();
    const { sessions } = await listSessions(query);
    times.push(performance.now() - startedAt);
    if (sessions.length !== 300) throw new Error(`${sessions.length} sessions`);
  }
  console.log(`the page's list of ${rows / perSession} sessions: ${Math.round(median(times))} ms`);
  if (median(times) > 200) process.exitCode = 1;
} finally {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function environment(home) {
  const GATEWAY_CONFIG = join(home, 'gateway.yaml');
  return { PATH: process.env.PATH, HOME: home, GATEWAY_CONFIG, BENCH_KEY: 'a-key-for-the-benchmark' };
}

/** CPU time of the commands that have ended, and of PostgreSQL's processes for them. The kernel counts it in 10 ms. */
async function endedCpuMs() {
  await new Promise((resolve) => setTimeout(resolve, 200)); // until a connection's process has ended
  const pids = postgres === undefined ? [process.pid] : [process.pid, postgres.pid];
  const ticks = pids.flatMap((pid) => statFields(pid).slice(13, 15)).map(Number);
  return ticks.reduce((sum, each) => sum + each) * 10;
}

/** Rows of both stores; `series` has i from 0, `ms` is when each began. */
function statements(series, ms, prefix = '') {
  // PostgreSQL has the sums in sixteen shards.
  const shard = prefix === '' ? '' : '(i % 16)::int, ';
  const each = `(i / ${perSession})`;
  const facts = `'p' || (${each} % 10) as project, 'p' || (${each} % 10) || '-' || (${each} / 10 % 5) as key_id,
    'm' || (i % 8) as model, 's' || ${each} as session`;
  return [
    `delete from ${prefix}exchanges`,
    `delete from ${prefix}sums`,
    `delete from ${prefix}session_sums`,
    `delete from ${prefix}provider_sums`,
    `insert into ${prefix}exchanges (request_id, started_ms, project, key_id, endpoint, model, status, outcome,
       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, nano_usd, is_estimated,
       session, agent)
     select 'req_' || i, ms, project, key_id, 'chat', model, 200, 'answered', 100, 50, 0, 0, 0, 1000, 0, session, 'claude'
     from (select i, ${ms} as ms, ${facts} from ${series}) as each`,
    `insert into ${prefix}sums (quarter, ${shard && 'shard, '}project, key_id, model, requests, input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, nano_usd, estimated, unpriced)
     select quarter, ${shard}project, key_id, model, count(*), sum(100), sum(50), 0, 0, 0, sum(1000), 0, 0
     from (select i, ${ms} / 900000 as quarter, ${facts} from ${series}) as each
     group by quarter, ${shard && '2, '}project, key_id, model`,
    `insert into ${prefix}session_sums (quarter, project, key_id, session, agent, requests, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, nano_usd, estimated, unpriced, new_tokens)
     select quarter, project, key_id, session, 'claude', count(*), sum(100), sum(50), 0, 0, 0, sum(1000), 0, 0, sum(150)
     from (select i, ${ms} / 900000 as quarter, ${facts} from ${series}) as each
     group by quarter, project, key_id, session`,
    `insert into ${prefix}provider_sums (quarter, ${shard && 'shard, '}provider, requests, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, nano_usd, estimated, unpriced)
     select quarter, ${shard}'p/' || (i % 2), count(*), sum(100), sum(50), 0, 0, 0, sum(1000), 0, 0
     from (select i, ${ms} / 900000 as quarter from ${series}) as each
     group by 1, 2${shard && ', 3'}`,
  ];
}

async function makeTables(place) {
  const { openStore } = await import('../build/record/ledger/open-store.js');
  await (await openStore(place)).close();
}

async function fillSqlite(home) {
  const path = join(home, '.local/state/gateway/ledger.sqlite');
  await makeTables({ path });
  const engine = new DatabaseSync(path);
  const series = `(with recursive series(i) as (select 0 union all select i + 1 from series where i < ${rows - 1}) select i from series)`;
  const ms = `(${Date.now() - 604_800_000} + i * 604800000 / ${rows})`;
  engine.exec(`begin; ${statements(series, ms).join(';')}; commit`);
  engine.close();
}

async function fillPostgres() {
  await makeTables({ url: postgres.url });
  const series = `(select i::bigint from generate_series(0, ${rows - 1}) as i) as series`;
  const ms = `(${Date.now() - 604_800_000} + i * 604800000 / ${rows})`;
  for (const sql of [...statements(series, ms, 'ledger_'), 'analyze']) {
    execFileSync('psql', [postgres.url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', sql]);
  }
}
