import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareSqliteFile } from '../../src/database/sqlite-file.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';
import { canMount, mountDisk } from '../kit/small-disk.ts';
import { startTestStore } from '../plants/fixture.ts';

const directory = emptyDirectory();
const at = (name: string) => join(directory, name);
const header = 'SQLite format 3\0';
const socket = createServer();

beforeAll(async () => {
  writeFileSync(at('target'), header, { mode: 0o644 });
  symlinkSync(at('target'), at('link'));
  symlinkSync(at('nowhere'), at('dangling'));
  mkdirSync(at('directory'), { mode: 0o755 });
  execFileSync('mkfifo', ['-m', '644', at('fifo')]);
  writeFileSync(at('text'), 'remember the milk\n', { mode: 0o644 });
  writeFileSync(at('short'), 'SQLite', { mode: 0o644 });
  writeFileSync(at('linked'), header, { mode: 0o644 });
  linkSync(at('linked'), at('second-name'));
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve));
  chmodSync(at('socket'), 0o755);
});
afterAll(() => {
  socket.close();
});

test.each([
  ['link', 'is a symbolic link', 'target'],
  ['dangling', 'is a symbolic link', undefined],
  ['directory', 'is a directory', 'directory'],
  ['fifo', 'is a device, a pipe or a socket', 'fifo'],
  ['socket', 'is a device, a pipe or a socket', 'socket'],
  ['text', 'is not a SQLite database', 'text'],
  ['short', 'is not a SQLite database', 'short'],
  ['second-name', 'has several names', 'linked'],
])('%s is refused, since it %s, and nothing of it is touched', (name, problem, watched) => {
  const look = () => (watched === undefined ? undefined : statSync(at(watched)));
  const before = look();

  expect(() => prepareSqliteFile(at(name))).toThrow(problem);
  expect(look()?.mode).toBe(before?.mode);
  expect(look()?.ctimeMs).toBe(before?.ctimeMs);
  expect(() => statSync(at('nowhere'))).toThrow('ENOENT');
});

test('a device is refused and keeps its mode', () => {
  const before = statSync('/dev/null').mode;

  expect(() => prepareSqliteFile('/dev/null')).toThrow('is a device');
  expect(statSync('/dev/null').mode).toBe(before);
});

test('a new file and an old database are made readable by their owner alone', () => {
  writeFileSync(at('old'), `${header}and more`, { mode: 0o644 });
  prepareSqliteFile(at('new'));
  prepareSqliteFile(at('old'));

  expect(statSync(at('new')).mode & 0o777).toBe(0o600);
  expect(statSync(at('old')).mode & 0o777).toBe(0o600);
  expect(readFileSync(at('old'), 'latin1')).toBe(`${header}and more`);
});

test.skipIf(!canMount)('a full disk is 503 with a time to come back, and reads go on', async () => {
  const database = `sqlite:${join(mountDisk('1m'), 'p.sqlite')}`;
  const store = await startTestStore({ kind: 'sqlite', create: async () => database });
  try {
    const body = { name: 'x', tags: Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(50, '植')) };
    const stored: number[] = [];
    let refused = await store.sendLoggedIn({ method: 'POST', path: '/plant', body });
    for (let i = 0; i < 2_000 && refused.status === 200; i += 1) {
      stored.push(refused.json.id);
      refused = await store.sendLoggedIn({ method: 'POST', path: '/plant', body });
    }
    const last = await store.send({ path: `/plant/${stored.at(-1)}` });

    expect(refused).toMatchObject({ status: 503, json: { error: { reason: 'store.database' } } });
    expect(refused.json.error.message).toContain('disk is full');
    expect(refused.headers['retry-after']).toBe('1');
    expect(last.status).toBe(200);
  } finally {
    await store.drain();
  }
});
