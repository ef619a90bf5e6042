import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import { scale } from '../../kit/scale.ts';
import {
  answering,
  ask,
  body,
  configure,
  type Gateway,
  maxima,
  query,
  segments,
  serveIn,
  stop,
  withBudget,
} from './workers/serving.ts';

interface SessionUse {
  readonly session: string;
  readonly requests: number;
  readonly tokens: number;
}

const clients = 16;
const used = 120;

// The session of each exchange is its own, so that the sums tell one from another.
test('kill -9 under load, again and again: what was answered counts once and exactly, what was open at its worst case', async () => {
  const home = emptyDirectory();
  const scripted = await answering(used - 100);
  configure(home, withBudget(scripted.url, { limits: 'usd_per_day: 1000' }));
  const acknowledged = new Set<string>();
  let sent = 0;
  const client = async (gateway: Gateway, isOver: () => boolean) => {
    while (!isOver()) {
      sent += 1;
      const session = `s${sent}`;
      const response = await ask(gateway, body, { 'x-gateway-session': session }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.status === 200 && text?.includes('completion_tokens')) acknowledged.add(session);
    }
  };

  for (let round = 0; round < scale(3, 10); round += 1) {
    const gateway = await serveIn(home);
    const before = acknowledged.size;
    let isOver = false;
    const load = Array.from({ length: clients }, () => client(gateway, () => isOver));
    // Long enough for some segments, and into the midst of one.
    await expect.poll(() => acknowledged.size, { timeout: 60_000 }).toBeGreaterThan(before + 200);
    await new Promise((resume) => setTimeout(resume, 700 + 130 * round));
    await stop(gateway, 'SIGKILL');
    isOver = true;
    await Promise.all(load);
  }
  const last = await serveIn(home);
  // Its own is left.
  await expect.poll(() => segments(home).length, { timeout: 60_000 }).toBeLessThan(2);
  await stop(last);
  expect(segments(home)).toEqual([]);

  const found = await query<SessionUse>(
    home,
    'select session, sum(requests) as requests, sum(input_tokens + output_tokens) as tokens from session_sums group by session',
  );
  const unknown = await query<{ session: string }>(
    home,
    "select session from exchanges where outcome = 'unknown'",
  );
  const open = new Set(unknown.map(({ session }) => session));
  const bySession = new Map(found.map((each) => [each.session, each]));
  expect([...acknowledged].filter((session) => bySession.get(session)?.tokens !== used)).toEqual([]);
  expect(found.filter(({ requests }) => requests !== 1)).toEqual([]);
  expect(found.filter(({ session, tokens }) => tokens !== (open.has(session) ? maxima(body) : used))).toEqual(
    [],
  );
  expect([...open].filter((session) => acknowledged.has(session))).toEqual([]);
}, 240_000);
