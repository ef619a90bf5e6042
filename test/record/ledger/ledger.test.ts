import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { loadSqlite, openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import type { LedgerEvent } from '../../../src/record/ledger/ledger.ts';
import { openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import type { WantedSum } from '../../../src/record/ledger/ledger-row.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { packIntent } from '../../../src/record/ledger/packed-change.ts';
import { readUsage } from '../../../src/record/ledger/read-usage.ts';
import { intent, row, startedMs } from './rows.ts';

const dayMs = 86_400_000;
const sinceMs = Date.parse('2026-11-22T00:00:00Z');
const wanted = [{ scope: 'project' as const, name: 'shop', sinceMs, untilMs: sinceMs + dayMs }];
const retention = { days: 90, bytes: 1e9 };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
  ending.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function open(path: string, events: LedgerEvent[] = []) {
  const opened = await openLedger({ path, retention, wanted, onEvent: (event) => events.push(event) });
  ending.push(() => opened.ledger.close());
  return opened;
}

async function rows(path: string): Promise<{ request_id: string; outcome: string; nano_usd: number }[]> {
  const engine = await openSqliteReader(path);
  const found = engine
    .prepare('select request_id, outcome, nano_usd from exchanges order by request_id')
    .all();
  engine.close();
  return found as Awaited<ReturnType<typeof rows>>;
}

describe('ledger', () => {
  test('what was used is known when the ledger is opened again', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const { ledger, sums } = await open(path);
    expect(sums).toMatchObject([{ tokens: 0, nanoUsd: 0 }]);

    await Promise.all(Array.from({ length: 100 }, (_, i) => ledger.begin(intent(`req_${i}`))));
    for (let i = 0; i < 100; i += 1) ledger.finish(row(`req_${i}`));
    await ledger.close();

    const next = await open(path);
    expect(next.sums).toMatchObject([{ tokens: 800, nanoUsd: 8_000 }]);
    expect(await rows(path)).toHaveLength(100);
  });

  test('many sums at once are the same as one by one', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const file = await openLedgerFile(path);
    const scopes = Array.from({ length: 12 }, (_, i) => ({ project: `p${i % 4}`, keyId: `k${i}` }));
    file.commit([
      ...scopes.map((scope, i) => ({ kind: 'finish' as const, row: { ...row(`req_${i}`), ...scope } })),
      ...scopes.map((scope, i) => ({ kind: 'begin' as const, intent: { ...intent(`open_${i}`), ...scope } })),
    ]);
    const many = [
      ...scopes.map(({ project }) => ({ scope: 'project' as const, name: project })),
      ...scopes.map(({ keyId }) => ({ scope: 'key' as const, name: keyId })),
      { scope: 'key' as const, name: 'unused' },
    ].flatMap((each) =>
      [
        { sinceMs: 0, untilMs: startedMs + dayMs },
        { sinceMs: 0, untilMs: startedMs - dayMs },
        { sinceMs: startedMs - 60_000, untilMs: startedMs + dayMs },
        { sinceMs: startedMs + 900_000, untilMs: startedMs + dayMs },
      ].map((period) => ({ ...each, ...period })),
    );

    const together = file.sums(many);

    expect(together).toEqual(many.flatMap((each) => file.sums([each])));
    expect(together[0]).toMatchObject({ name: 'p0', tokens: 3 * (8 + 130) });
    file.close();
  });

  test('what a clock that was ahead has entered counts on its day alone, finished or open', async () => {
    const file = await openLedgerFile(join(directory(), 'ledger.sqlite'));
    const ahead = startedMs + 365 * dayMs;
    file.commit([
      { kind: 'finish', row: { ...row('req_early'), startedMs: ahead } },
      { kind: 'begin', intent: { ...intent('req_open'), startedMs: ahead } },
      { kind: 'finish', row: row('req_today') },
    ]);
    const [today] = wanted;
    const later = { ...today, sinceMs: sinceMs + 365 * dayMs, untilMs: sinceMs + 366 * dayMs };
    const few = [today, later] as WantedSum[];
    const many = Array.from({ length: 20 }, (_, i) => few[i % 2] as WantedSum);

    expect(file.sums(few).map(({ tokens }) => tokens)).toEqual([8, 8 + 130]);
    expect(file.sums(many).map(({ tokens }) => tokens)).toEqual(
      Array(10)
        .fill([8, 8 + 130])
        .flat(),
    );
    file.close();
  });

  test('one row for each request id, however often it is finished', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const { ledger } = await open(path);

    await ledger.begin(intent('req_1'));
    ledger.finish(row('req_1'));
    ledger.finish(row('req_1'));
    await ledger.close();

    expect((await open(path)).sums).toMatchObject([{ tokens: 8, nanoUsd: 80 }]);
  });

  test('whatever a provider says that it used, the ledger can be read', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const { ledger } = await open(path);
    const most = Number.MAX_SAFE_INTEGER;
    for (const id of ['req_1', 'req_2']) {
      await ledger.begin(intent(id));
      ledger.finish({ ...row(id), inputTokens: most, outputTokens: most, nanoUsd: most * 1e6 });
    }
    await ledger.close();
    const engine = new (await loadSqlite()).DatabaseSync(path); // as an older version wrote it
    engine.exec('update sums set cache_read_tokens = 9223372036854775807');
    engine.exec(
      "insert into sums select quarter + 1, project, key_id, 'other', requests, input_tokens, output_tokens, cache_read_tokens, 0, 0, nano_usd, 0, 0 from sums",
    );
    engine.close();

    const { sums } = await open(path);
    const report = await readUsage({ path }, { by: 'project', sinceMs: 0, dayOf: String });

    expect(sums).toMatchObject([{ tokens: 8e13, nanoUsd: 4e13 }]);
    expect(report).toMatchObject([{ name: 'shop', requests: 4, input_tokens: 4e13, cost_usd: 40_000 }]);
  });

  test('a cancelled intent leaves nothing', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const { ledger } = await open(path);

    await ledger.begin(intent('req_1'));
    ledger.cancel('req_1');
    await ledger.close();

    expect((await open(path)).sums).toMatchObject([{ tokens: 0, nanoUsd: 0 }]);
  });

  test('what another gateway has open is left alone; what a dead one had is settled by its worst case', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const script = `
      const { Worker } = require('node:worker_threads');
      const worker = new Worker(${JSON.stringify(join(import.meta.dirname, '../../../dist/ledger-worker.js'))},
        { workerData: { ...${JSON.stringify({ place: { path }, retention })}, lock: new SharedArrayBuffer(4) } });
      worker.on('message', (answer) => answer.kind === 'committed' && process.stdout.write('committed'));
      worker.postMessage({ kind: 'open', wanted: [] });
      const changes = [${JSON.stringify(packIntent(intent('req_other')))}];
      worker.postMessage({ kind: 'changes', json: JSON.stringify(changes), upTo: 1 });
    `;
    const { spawn } = await import('node:child_process');
    const other = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    ending.push(() => other.kill('SIGKILL'));
    await new Promise((resolve) => other.stdout.once('data', resolve));

    const { ledger, sums } = await open(path);
    // Left alone, but whoever has a budget must know of it.
    expect(sums).toMatchObject([{ tokens: 130, nanoUsd: 1_000 }]);
    await ledger.begin(intent('req_mine'));
    ledger.finish(row('req_mine'));
    await ledger.close();
    other.kill('SIGKILL');
    await new Promise((resolve) => other.once('exit', resolve));

    expect((await open(path)).sums).toMatchObject([{ tokens: 138, nanoUsd: 1_080 }]);
    await expect
      .poll(() => rows(path))
      .toMatchObject([
        { request_id: 'req_mine', outcome: 'answered' },
        { request_id: 'req_other', outcome: 'unknown', nano_usd: 1_000 },
      ]);
  });

  test('a gateway that was held up itself does not take its disk for slow', async () => {
    const events: LedgerEvent[] = [];
    const { ledger } = await open(join(directory(), 'ledger.sqlite'), events);
    await ledger.begin(intent('first'));
    const begun = ledger.begin(intent('second'));
    // The intent is on its way to the thread.
    await new Promise((resume) => setImmediate(resume));
    const end = performance.now() + 2_500;
    while (performance.now() < end);
    await begun;

    expect(events).toEqual([]);
  });

  test('no lock files remain', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const { ledger } = await open(path);
    await ledger.close();

    expect(readdirSync(join(path, '..'))).toEqual(['ledger.sqlite']);
  });

  test('a file that is not a database fails every intent, and is used once it is one', async () => {
    const path = join(directory(), 'ledger.sqlite');
    writeFileSync(path, 'this is not a database, but it is long enough to look at', { mode: 0o600 });
    const events: LedgerEvent[] = [];

    const { ledger, sums, problem } = await open(path, events);
    expect(sums).toBeUndefined();
    expect(problem?.cause).toContain('is not a SQLite database');
    await expect(ledger.begin(intent('req_1'))).rejects.toThrow('is not a SQLite database');
    await expect(ledger.begin(intent('req_1'))).rejects.toThrow('not open');

    rmSync(path);
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['failing', 'working']);
    await ledger.begin(intent('req_2'));
  });

  test('old rows go by age and by size; the sums stay', async () => {
    const path = join(directory(), 'ledger.sqlite');
    const file = await openLedgerFile(path);
    file.commit(Array.from({ length: 1_200 }, (_, i) => ({ kind: 'finish', row: row(`req_${i}`) })));
    const dayMs = 86_400_000;

    expect(file.maintain(retention, startedMs + 89 * dayMs)).toBe(false);
    expect(await rows(path)).toHaveLength(1_200);
    expect(file.maintain({ days: 90, bytes: 1_000 }, startedMs + dayMs)).toBe(true);
    expect(await rows(path)).toHaveLength(700);
    expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(true);
    expect(file.maintain(retention, startedMs + 91 * dayMs)).toBe(false);
    expect(await rows(path)).toHaveLength(0);
    expect(file.sums(wanted)).toMatchObject([{ tokens: 9_600 }]);
    file.close();
  });
});

const canMount = process.getuid?.() === 0;
describe.skipIf(!canMount)('on a full disk', () => {
  test('intents fail, and what waited is written when there is room again', async () => {
    const mounted = directory();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', mounted]);
    } catch {
      return; // a container that may not mount
    }
    ending.push(() => execFileSync('umount', ['-l', mounted]));
    const path = join(mounted, 'ledger.sqlite');
    const events: LedgerEvent[] = [];
    const { ledger } = await open(path, events);
    await ledger.begin(intent('req_1'));
    writeFileSync(join(mounted, 'filler'), Buffer.alloc(400_000).subarray(0, 0));
    const fill = () => {
      for (let size = 65_536; size >= 512; size /= 2) {
        try {
          for (;;) writeFileSync(join(mounted, 'filler'), Buffer.alloc(size), { flag: 'a' });
        } catch {
          // full for this size
        }
      }
    };
    fill();

    const more = async () => {
      for (let i = 0; i < 200; i += 1)
        await ledger.begin({ ...intent(`req_more_${i}`), model: 'm'.repeat(200) });
    };
    await expect(more()).rejects.toThrow('full');
    ledger.finish(row('req_1'));
    rmSync(join(mounted, 'filler'));

    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['failing', 'working']);
    await ledger.close();
    expect(await rows(path)).toMatchObject([{ request_id: 'req_1', outcome: 'answered' }]);
  });
});
