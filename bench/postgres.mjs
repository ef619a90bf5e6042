// A PostgreSQL of the benchmark's own.
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cores, launch, stop } from './processes.mjs';

/** With fsync, as one that keeps what it has acknowledged. */
export async function startPostgres() {
  const root = '/usr/lib/postgresql';
  const [version] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  if (version === undefined) throw new Error('PostgreSQL is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'gateway-scaling-pg-'));
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres']));
  const owner = process.getuid() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid);
  const programs = join(root, version, 'bin');
  const data = join(directory, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], {
    ...owner,
    stdio: 'pipe',
    cwd: directory,
  });
  const flags = ['-D', data, '-k', directory, '-c', 'listen_addresses='];
  const become =
    owner.uid === undefined
      ? []
      : ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const child = launch({
    command: [...become, join(programs, 'postgres'), ...flags],
    core: cores.load,
    cwd: directory,
  });
  const url = `postgres://bench@localhost/postgres?host=${encodeURIComponent(directory)}`;
  for (let tries = 0; spawnSync('psql', [url, '-c', 'select 1']).status !== 0; tries += 1) {
    if (tries > 100) throw new Error(`PostgreSQL did not start: ${child.words}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    pid: child.pid,
    stop: async () => {
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
