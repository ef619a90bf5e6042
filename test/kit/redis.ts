import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { freePort, untilListening } from './ports.ts';

/** Whether a Redis server is installed here; tests that need one are reported as skipped where it is not. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export interface TestRedis {
  readonly url: string;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port, without its data. */
  start(): Promise<void>;
  /** SIGSTOP: it holds its connections and answers nothing; SIGCONT goes on. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** A throw-away Redis of the test's own on loopback. */
export async function startRedis(): Promise<TestRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async () => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory];
    child = spawn('redis-server', [...options, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    await untilListening(port);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    stop: async () => {
      child?.kill('SIGCONT');
      await kill();
    },
  };
}

/** What a project has used of its tokens of a day; around midnight of two. */
export async function dailyTokensIn(client: Redis, project: string): Promise<number> {
  const days = await client.mget(await client.keys(`*${project} tokens_per_day*`));
  return days.reduce((sum, used) => sum + Number(used), 0);
}
