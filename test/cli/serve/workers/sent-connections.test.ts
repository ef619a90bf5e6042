import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SentConnections } from '../../../../src/server/workers/hand-over.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function connections() {
  const process = { send: vi.fn(() => true), kill: vi.fn(() => true) };
  const onRecovered = vi.fn();
  const sent = new SentConnections(process, onRecovered);
  const done = vi.fn();
  sent.send(new Socket(), done);
  const [first = []] = process.send.mock.calls as unknown[][];
  return { process, sent, done, onRecovered, onSent: first[3] as (error: Error | null) => void };
}

test('what is not confirmed in time is returned once, and the process counts as late until it confirms', () => {
  const { process, sent, done, onRecovered } = connections();

  vi.advanceTimersByTime(1_201);
  expect([done.mock.calls, sent.areLate, onRecovered.mock.calls]).toEqual([[[false]], true, []]);

  sent.confirm(1, true);
  vi.advanceTimersByTime(60_000);
  expect([done.mock.calls, sent.areLate, process.kill.mock.calls]).toEqual([[[false]], false, []]);
  expect(onRecovered).toHaveBeenCalledOnce();
});

test('a process that confirms nothing for thirty seconds more is killed', () => {
  const { process } = connections();

  vi.advanceTimersByTime(31_000);
  expect(process.kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(300);

  expect(process.kill).toHaveBeenCalledExactlyOnceWith('SIGKILL');
});

test('what a process got too late to serve is returned at once, and only once', () => {
  const { process, sent, done } = connections();

  vi.advanceTimersByTime(1_100);
  sent.confirm(1, false);
  expect([done.mock.calls, sent.areLate]).toEqual([[[false]], false]);

  vi.advanceTimersByTime(60_000);
  expect([done.mock.calls, process.kill.mock.calls]).toEqual([[[false]], []]);
});

test('what is confirmed in time is not returned, also if its process ends later', () => {
  const { process, sent, done } = connections();

  sent.confirm(1, true);
  vi.advanceTimersByTime(60_000);
  sent.returnAll();

  expect([done.mock.calls, process.kill.mock.calls]).toEqual([[[true]], []]);
});

test('what could not be sent is returned at once, and the process is not late', async () => {
  const { process, sent, done, onSent } = connections();

  onSent(new Error('write EPIPE'));
  await vi.advanceTimersByTimeAsync(60_000);

  expect([done.mock.calls, sent.areLate, process.kill.mock.calls]).toEqual([[[false]], false, []]);
});

test('what was sent waits to be confirmed', () => {
  const { done, onSent } = connections();

  onSent(null);
  vi.advanceTimersByTime(100);

  expect(done).not.toHaveBeenCalled();
});
