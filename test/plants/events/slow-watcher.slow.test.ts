import { expect, test } from 'vitest';
import { describeSqlite } from '../databases.ts';
import { startTestStore } from '../fixture.ts';
import { watch } from '../watcher.ts';

describeSqlite('events', (databases) => {
  test('a watcher that does not read is disconnected; the others get everything', async () => {
    const small = await startTestStore(databases, { watcherLimits: { unreadBytes: 16_384 } });
    const reader = await watch(small, { action: 'subscribe' });
    const sleeper = await watch(small, { action: 'subscribe' });
    sleeper.socket.pause();
    const body = { name: 'x', tags: Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(50, '植')) };
    let written = 0;
    const isGone = () =>
      small.log.filter((record) => 'event' in record && record.event === 'plants.watcher_slow').length;
    // What the kernel buffers for a socket is a few megabytes at most.
    while (isGone() === 0 && written < 3_000) {
      await Promise.all(Array.from({ length: 10 }, () => small.add(body)));
      written += 10;
    }
    await reader.received(written);
    sleeper.socket.resume();
    await sleeper.closed();
    await reader.close();
    await small.drain();

    expect(isGone()).toBe(1);
    expect(sleeper.events.length).toBeLessThan(written);
  }, 60_000);
});
