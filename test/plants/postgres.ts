import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export interface Postgres {
  /** A new, empty database of its own. */
  createDatabase(): Promise<string>;
  /** Runs one statement as the administrator. */
  run(sql: string): Promise<void>;
  /** Ends it as a crash would, until `resume`. */
  halt(): Promise<void>;
  /** Ends its first process as `kill -9` does, until `resume`. */
  kill(): Promise<void>;
  resume(): Promise<void>;
  /** As an administrator restarts it: connections are closed, not waited for. */
  restart(): Promise<void>;
  /** Where it listens. */
  readonly socket: string;
  stop(): Promise<void>;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Where PostgreSQL's programs are, or undefined where they are not installed. */
export const postgresPrograms = findPrograms();

/** A PostgreSQL of its own on a Unix socket in a new directory, gone again with `stop`. */
export async function startPostgres(): Promise<Postgres> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'plants-pg-'));
  const data = join(directory, 'data');
  const owner = ownerForRoot();
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  const initdb = join(postgresPrograms, 'initdb');
  const options = { ...owner, cwd: directory, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
  execFileSync(initdb, ['-D', data, '-U', 'plants', '-E', 'UTF8', '-A', 'trust', '--no-sync'], {
    ...options,
    stdio: 'pipe',
  });
  // Without fsync it could not survive a power cut; the tests kill our process, not this one.
  const flags = ['-k', directory, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=200'];
  const programs = postgresPrograms;
  const launch = async () => {
    const child = spawn(join(programs, 'postgres'), ['-D', data, ...flags], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(child);
    return child;
  };
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  };
  const halt = () => end('SIGQUIT'); // immediate, as in a crash
  const resume = async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        server = await launch();
        return;
      } catch (error) {
        // The processes of one that was killed hold its memory until they notice.
        if (attempt === 40) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  let server = await launch();
  const urlOf = (name: string) => `postgres://plants@localhost/${name}?host=${encodeURIComponent(directory)}`;
  let made = 0;

  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  return {
    run,
    createDatabase: async () => {
      made += 1;
      await run(`create database plants_${made}`);
      return urlOf(`plants_${made}`);
    },
    halt,
    kill: () => end('SIGKILL'),
    resume,
    restart: async () => {
      await end('SIGINT');
      await resume();
    },
    socket: join(directory, '.s.PGSQL.5432'),
    stop: async () => {
      await halt();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function findPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
}

/** Whom to run it as where the tests run as root, which it refuses; undefined elsewhere. */
export function ownerForRoot(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // no such user here: the next one
    }
  }
  throw new Error('there is no user to run PostgreSQL as');
}

async function ready(server: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('ready to accept connections')) resolve();
    });
  });
}
