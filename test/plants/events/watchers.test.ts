import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { defaultListenLimits, listen } from '../../../src/http/listen.ts';
import type { UserSessions } from '../../../src/plants/accounts/sessions.ts';
import { createWatchers, defaultWatcherLimits } from '../../../src/plants/events/watchers.ts';

const unused = () => Promise.reject(new Error('watchers need only stillValid'));
const sessions: UserSessions = {
  create: unused,
  find: unused,
  revoke: unused,
  deleteExpired: unused,
  stillValid: async (hashes) => new Set(hashes),
};

test('a watcher that is accepted after the others were disconnected is disconnected too', async () => {
  const watchers = createWatchers({ sessions, limits: defaultWatcherLimits, onSlow: () => undefined });
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 1_000 },
    onRequest: () => undefined,
    onUpgrade: (request, socket, head) => watchers.accept(request, socket, head, 'hash'),
  });
  onTestFinished(() => listener.drain());
  watchers.close();

  const watcher = new WebSocket(listener.url.replace('http', 'ws'));
  const [code] = await once(watcher, 'close');

  expect(code).toBe(1001);
});
