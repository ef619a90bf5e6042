import { describe, expect, test } from 'vitest';
import { clients, randomPlan } from '../../kit/five-turns.ts';
import { createRandom } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { nothingIssued } from '../../kit/strict/vendors.ts';
import { converse, pairs, untranslated } from './converse.ts';

// Conversations of five turns of each client at each host: nothing of them is refused, whatever the host said before, also
// where a turn went to another host in between.

describe.each(pairs)('a $client client at $name', ({ client, ...row }) => {
  test('is never refused', () => {
    const random = createRandom(client.length * 1_000 + row.name.length);
    for (let round = 0; round < scale(2, 60); round += 1) {
      const plan = randomPlan(random, clients[client]);
      const other = random.of([...pairs, ...untranslated].filter((pair) => pair.client === client));
      const targets = [
        { ...row, origin: 'a', issued: nothingIssued() },
        { ...other, origin: 'b', issued: nothingIssued() },
      ] as const;
      const isStream = random.below(2) === 0;
      try {
        converse({ client, targets, plan, isStream });
      } catch (cause) {
        const turns = plan.turns.map((turn) => JSON.stringify(Object.values(turn).join('/'))).join('\n');
        const where = `${isStream ? 'streamed' : 'whole'}, with ${other.name}, elsewhere ${[...plan.elsewhere]}`;
        throw new Error(`${where}:\n${turns}\n${(cause as Error).stack}`);
      }
    }
    expect(random.next()).toBeGreaterThan(0);
  });
});
