import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

// Below the ports that the system hands out by itself, and apart for each of vitest's processes: between looking and
// listening nobody else gets one.
const perProcess = 500;
const first = 10_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 40) * perProcess;
let next = Math.floor(Math.random() * perProcess);

/** A port of loopback that nobody has now, and that no other test is given. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < perProcess; tries += 1) {
    next = (next + 1) % perProcess;
    if (await isFree(first + next)) return first + next;
  }
  throw new Error(`no port from ${first} on is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Resolves when something accepts connections there; throws after thirty seconds. */
export async function untilListening(port: number): Promise<void> {
  const until = Date.now() + 30_000;
  while (Date.now() < until) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').catch(() => false);
    socket.destroy();
    if (isOpen !== false) return;
    await setTimeout(20);
  }
  throw new Error(`nothing listens on port ${port}`);
}
