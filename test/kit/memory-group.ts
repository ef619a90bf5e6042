import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A control group whose processes have so much memory, as a container's have. */
export interface MemoryGroup {
  readonly path: string;
  /** How many of its processes were killed for their memory. */
  kills(): number;
  remove(): void;
}

const versions = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', events: 'memory.oom_control' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events' },
] as const;

let made = 0;

/** Undefined where there are no groups with memory, or where this user may not make one. */
export function makeMemoryGroup(mebibytes: number): MemoryGroup | undefined {
  made += 1;
  for (const { root, limit, events } of versions) {
    const path = join(root, `gateway-test-${process.pid}-${made}`);
    try {
      mkdirSync(path);
    } catch {
      continue; // no such kind of group, or not for this user
    }
    try {
      writeFileSync(join(path, limit), String(mebibytes * 1_048_576), { flag: 'r+' });
    } catch {
      rmdirSync(path);
      continue; // groups of the other version have no memory here
    }
    return {
      path,
      kills: () => Number(/oom_kill (\d+)/.exec(readFileSync(join(path, events), 'utf8'))?.[1]),
      remove: () => rmdirSync(path),
    };
  }
  return undefined;
}

export const hasMemoryGroups = (() => {
  const group = makeMemoryGroup(256);
  group?.remove();
  return group !== undefined;
})();
