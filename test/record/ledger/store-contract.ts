import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginLine, endLine, segmentHeader } from '../../../src/record/ledger/journal/journal-line.ts';
import { sumsOf } from '../../../src/record/ledger/ledger-columns.ts';
import type { Intent, LedgerRow, WantedSum } from '../../../src/record/ledger/ledger-row.ts';
import type { LedgerPlace, LedgerStore } from '../../../src/record/ledger/ledger-store.ts';
import { readLedgerSums, readSessions, readTurns } from '../../../src/record/ledger/read-ledger.ts';
import { dayMs, intent, retention, row, startedMs } from './rows.ts';

const journalOwner = '11111111-1111-4111-8111-111111111111';
const nothing = { rows: [], open: [] };
const onDay = (day: number) => ({ sinceMs: startedMs + day * dayMs, untilMs: startedMs + (day + 1) * dayMs });
const shop = { scope: 'project' as const, name: 'shop' };

interface Journal {
  readonly rows: readonly LedgerRow[];
  readonly open: readonly Intent[];
}

/** With a journal of another process that has just this. */
function sumsWith(place: LedgerPlace, wanted: readonly WantedSum[], { rows, open }: Journal) {
  rmSync(place.journal, { recursive: true, force: true });
  mkdirSync(place.journal);
  const lines = [...open.map(beginLine), ...rows.map(endLine)];
  const name = `${journalOwner}-00000001.journal`;
  writeFileSync(join(place.journal, name), segmentHeader + lines.join(''));
  return readLedgerSums(place, wanted);
}

interface Opened {
  readonly stores: readonly [LedgerStore, LedgerStore];
  readonly place: LedgerPlace;
}

/** What the file and PostgreSQL count alike; `open` gives two connections to one new store. */
export function testStore(open: () => Promise<Opened>): void {
  test('whatever is added twice, by whomever, counts once, and beside the same in the journal', async () => {
    const { stores, place } = await open();
    const [store, other] = stores;

    await Promise.all([
      store.add({ rows: [row('a'), row('a'), row('b')] }),
      other.add({ rows: [row('b'), row('c'), row('a')] }),
      store.add({ rows: [] }),
    ]);
    const journal = { rows: [row('c'), row('d')], open: [intent('d'), intent('e')] };

    expect(await sumsWith(place, [{ ...shop, ...onDay(0) }], nothing)).toMatchObject([
      { tokens: 24, nanoUsd: 240 },
    ]);
    expect(await sumsWith(place, [{ ...shop, ...onDay(0) }], journal)).toMatchObject([
      { tokens: 32 + 130, nanoUsd: 320 + 1_000 },
    ]);
  });

  test('a segment counts once, whoever adds it, with rows or without, and beside itself in the journal', async () => {
    const { stores, place } = await open();
    const [store, other] = stores;
    const rows = [row('a'), row('b'), row('c')];
    const segment = { owner: journalOwner, number: 1 };

    await Promise.all([store.add({ segment, sums: sumsOf(rows) }), other.add({ segment, rows })]);
    await other.add({ segment: { owner: journalOwner, number: 0 }, sums: sumsOf(rows) });

    for (const journal of [nothing, { rows, open: [] }])
      expect(await sumsWith(place, [{ ...shop, ...onDay(0) }], journal)).toMatchObject([{ tokens: 24 }]);
    const hostile = { ...row('d'), model: 'm\u0000\ud800', input_tokens: Number.NaN, output_tokens: 8 };
    await store.add({ segment: { owner: journalOwner, number: 2 }, sums: sumsOf([hostile]) });
    expect(await sumsWith(place, [{ ...shop, ...onDay(0) }], nothing)).toMatchObject([{ tokens: 32 }]);
  });

  test('what ends in a segment that is moved while the journal is read counts once', async () => {
    const { stores, place } = await open();
    const [store] = stores;
    mkdirSync(place.journal, { recursive: true });
    const path = (number: number) => join(place.journal, `${journalOwner}-0000000${number}.journal`);
    writeFileSync(path(1), segmentHeader + beginLine(intent('a')));

    const reading = readLedgerSums(place, [{ ...shop, ...onDay(0) }]);
    appendFileSync(path(1), endLine(row('a')));
    const moving = store.add({
      segment: { owner: journalOwner, number: 1 },
      sums: sumsOf([row('a')]),
    });
    writeFileSync(path(2), segmentHeader);
    await moving;
    rmSync(path(1), { force: true });

    expect(await reading).toMatchObject([{ tokens: 8 }]);
  });

  test('many sums at once are the same as one by one, with what is open', async () => {
    const { stores, place } = await open();
    const [store] = stores;
    const scopes = Array.from({ length: 12 }, (_, i) => ({ project: `p${i % 4}`, key_id: `k${i}` }));
    await store.add({ rows: scopes.map((scope, i) => ({ ...row(`req_${i}`), ...scope })) });
    const journal = { rows: [], open: scopes.map((scope, i) => ({ ...intent(`open_${i}`), ...scope })) };
    const many = [
      ...scopes.map(({ project }) => ({ scope: 'project' as const, name: project })),
      ...scopes.map(({ key_id }) => ({ scope: 'key' as const, name: key_id })),
      { scope: 'key' as const, name: 'p0' },
    ].flatMap((each) =>
      [
        { sinceMs: 0, untilMs: startedMs + dayMs },
        { sinceMs: 0, untilMs: startedMs - dayMs },
        { sinceMs: startedMs - 60_000, untilMs: startedMs + dayMs },
        { sinceMs: startedMs + 900_000, untilMs: startedMs + dayMs },
      ].map((period) => ({ ...each, ...period })),
    );

    const together = await sumsWith(place, many, journal);

    const alone: unknown[] = [];
    for (const each of many) alone.push(...(await sumsWith(place, [each], journal)));
    expect(together).toEqual(alone);
    expect(together[0]).toMatchObject({ name: 'p0', tokens: 3 * (8 + 130) });
    expect(together.at(-1)).toMatchObject({ name: 'p0', tokens: 0, nanoUsd: 0 });
  });

  test('a session of a key is summed up, with what is still in the journal', async () => {
    const { stores, place } = await open();
    const [store, other] = stores;
    const turn = (id: string, values: Partial<LedgerRow>): LedgerRow => ({
      ...row(id),
      session: 's1',
      agent: 'claude',
      ...values,
    });
    await store.add({ rows: [turn('a', {}), turn('b', { started_ms: startedMs + dayMs }), row('c')] });
    await other.add({
      rows: [turn('a', {}), turn('d', { key_id: 'shop-other', session: 's2', agent: null })],
    });
    await sumsWith(place, [], { rows: [], open: [] });
    const latest = turn('e', { started_ms: startedMs + 2 * dayMs, nano_usd: null, subagent: 'explorer' });
    await sumsWith(place, [], { rows: [latest, turn('b', { started_ms: startedMs + dayMs })], open: [] });

    const sessions = await readSessions(place, { sinceMs: startedMs, limit: 10 });

    expect(sessions).toEqual([
      {
        ...{ session: 's1', key: 'shop-web', project: 'shop', agent: 'claude', requests: 3, new_tokens: 24 },
        ...{ input_tokens: 15, output_tokens: 9, cache_read_tokens: 3, cost_usd: 160 / 1e9, unpriced: 1 },
        ...{ started_ms: startedMs, last_ms: startedMs + 2 * dayMs },
      },
      expect.objectContaining({ session: 's2', key: 'shop-other', agent: '', requests: 1 }),
    ]);
    const turns = await readTurns(
      { place, records: undefined },
      { session: 's1', limit: 2, sinceMs: startedMs, untilMs: startedMs + 2 * dayMs },
    );
    expect(turns.map(({ request_id, subagent }) => [request_id, subagent])).toEqual([
      ['b', null],
      ['e', 'explorer'],
    ]);
    const since = { sinceMs: startedMs + 2 * dayMs, limit: 10 };
    expect(await readSessions(place, since)).toMatchObject([{ session: 's1', requests: 3 }]);
  });

  test('what a clock that was ahead has entered counts on its day alone, finished or open', async () => {
    const { stores, place } = await open();
    const [store] = stores;
    const ahead = startedMs + 365 * dayMs;
    await store.add({ rows: [{ ...row('req_early'), started_ms: ahead }, row('req_today')] });
    const journal = { rows: [], open: [{ ...intent('req_open'), started_ms: ahead }] };
    const few = [onDay(0), onDay(365)].map((period) => ({ ...shop, ...period }));
    const many = Array.from({ length: 10 }, () => few).flat();

    for (const wanted of [few, many]) {
      const sums = await sumsWith(place, wanted, journal);
      expect(sums.map(({ tokens }) => tokens)).toEqual(wanted.map((_, i) => (i % 2 === 0 ? 8 : 8 + 130)));
    }
  });

  test('sums go after 400 days, but a clock that is years ahead refunds nothing', async () => {
    const { stores, place } = await open();
    const [store] = stores;
    const at = (day: number) => ({ ...row(`req_${day}`), started_ms: startedMs + day * dayMs });
    const usedOn = async (...days: number[]) => {
      const sums = await sumsWith(
        place,
        days.map((day) => ({ ...shop, ...onDay(day) })),
        nothing,
      );
      return sums.map(({ tokens }) => tokens);
    };
    await store.add({ rows: [...Array.from({ length: 30 }, (_, day) => at(day)), at(900)] });

    await store.maintain(retention, startedMs + 900 * dayMs);
    const afterJump = await usedOn(0, 29, 900);
    await store.add({ rows: Array.from({ length: 40 }, (_, day) => at(1_000 + day)) });
    await store.maintain(retention, startedMs + 1_040 * dayMs);

    expect(afterJump).toEqual([8, 8, 8]);
    expect(await usedOn(0, 8, 9, 29, 900, 1_039)).toEqual([0, 0, 8, 8, 8, 8]);
  });
}
