// A Redis of the benchmark's own, which keeps nothing.
import { cores, freePort, launch, stop } from './processes.mjs';

export async function startRedis(folder) {
  const port = await freePort();
  const child = launch({
    command: ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
    core: cores.load,
  });
  return { url: `redis://127.0.0.1:${port}/0`, pid: child.pid, stop: () => stop(child) };
}
