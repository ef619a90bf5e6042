import { expect, test } from 'vitest';
import type { SessionTurn } from '../../../src/inspector/contract/agent-sessions.ts';
import { agentsOf, showTurns } from '../../../src/inspector/page/sessions/session-turns.ts';

const turn = (input: number, cached: number, subagent?: string): SessionTurn => ({
  id: `req_${input}_${cached}`,
  time: '2026-11-22T12:00:00Z',
  subagent,
  model: 'm',
  outcome: 'answered',
  tokens: { input, cached, output: 10 },
  cost_usd: 0.5,
});

test('a turn shows what it added to the one before of its agent, and whether the cache was missed', () => {
  const turns = [
    turn(1_000, 0),
    turn(1_200, 1_000),
    turn(500, 0, 'helper'),
    turn(1_500, 1_200),
    turn(1_600, 100),
    turn(700, 500, 'helper'),
    turn(400, 0),
  ];

  expect(showTurns(turns).map(({ added, hasMissed }) => [added, hasMissed])).toEqual([
    [1_000, false],
    [200, false],
    [500, false],
    [300, false],
    [100, true],
    [200, false],
    // A conversation that was shortened has no cache yet.
    [-1_200, false],
  ]);
});

test('a model that caches nothing misses nothing', () => {
  expect(showTurns([turn(1_000, 0), turn(2_000, 0)]).map(({ hasMissed }) => hasMissed)).toEqual([
    false,
    false,
  ]);
});

test('agents have what their turns used, the main one first', () => {
  expect(agentsOf([turn(500, 0, 'helper'), turn(1_000, 0), turn(1_200, 1_000)])).toEqual([
    {
      subagent: undefined,
      parent: undefined,
      depth: 0,
      requests: 2,
      input: 2_200,
      cached: 1_000,
      output: 20,
      cost_usd: 1,
    },
    {
      subagent: 'helper',
      parent: undefined,
      depth: 1,
      requests: 1,
      input: 500,
      cached: 0,
      output: 10,
      cost_usd: 0.5,
    },
  ]);
});
