import { describe, expect, test } from 'vitest';
import type { Step } from '../../kit/five-turns.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { isExhaustive } from '../../kit/scale.ts';
import { nothingIssued } from '../../kit/strict/vendors.ts';
import { converse, pairs, untranslated } from './converse.ts';

// A conversation whose model changes to another vendor's and back, twice: what each of them signed goes back to it alone.

const says = ['thinking and call', 'thinking and call', 'parallel', 'thinking and call', 'text'] as const;
const usual = {
  answers: 'text',
  ids: 'fresh',
  callForm: 'usual',
  fault: 'none',
  option: 'usual',
  extra: 'none',
  isCompacted: false,
  isBegun: false,
} as const;
const turns: readonly Step[] = says.map((each) => ({ says: each, ...usual }));

const all = [...pairs, ...untranslated];

/** One model of each host. */
function oneOfEach(random: Random, rows: typeof all): typeof all {
  return [...new Set(rows.map(({ host }) => host))].map((host) =>
    random.of(rows.filter((row) => row.host === host)),
  );
}

describe.each(all)('a $client client at $name', ({ client, ...row }) => {
  test('goes to other models and back', () => {
    const random = createRandom(client.length * 1_000 + row.name.length);
    const others = all.filter((other) => other.client === client);
    const failed: string[] = [];
    for (const other of isExhaustive ? oneOfEach(random, others) : [random.of(others)]) {
      const targets = [
        { ...row, origin: 'a', issued: nothingIssued() },
        { ...other, origin: 'b', issued: nothingIssued() },
      ] as const;
      const plan = { turns, elsewhere: new Set([1, 3]) };
      try {
        converse({ client, targets, plan, isStream: random.below(2) === 0 });
      } catch (cause) {
        failed.push(`${other.name}: ${(cause as Error).message.split('\n')[0]}`);
      }
    }

    expect(failed).toEqual([]);
  }, 60_000);
});
