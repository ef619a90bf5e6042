import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type History, openHistory } from '../../src/history/history.ts';
import { emptyDirectory } from '../kit/command.ts';

async function open(path = join(emptyDirectory(), 'history.sqlite'), now?: () => number): Promise<History> {
  const history = await openHistory(path, now);
  onTestFinished(() => history.close());
  return history;
}

const ask = (text: string) => ({ role: 'user' as const, text });

describe('conversations', () => {
  test('are found by name, by id, by a request, and as the last one', async () => {
    let atMs = 1_000;
    const history = await open(undefined, () => atMs++);
    const first = history.append({ name: 'trip', model: 'm', system: 'be brief' }, [
      { ...ask('hello'), requestId: 'req_1' },
      { role: 'assistant', text: 'hi', model: 'm-1', requestId: 'req_1' },
    ]);
    const second = history.append({ model: 'm' }, [ask('other')]);

    expect(history.last()?.id).toBe(second);
    history.append(first, [ask('more')]);
    expect(history.last()?.id).toBe(first);
    expect(history.named('trip')).toEqual({
      id: first,
      name: 'trip',
      model: 'm',
      system: 'be brief',
      startedMs: 1_000,
      updatedMs: 1_002,
      turns: 3,
      beginning: 'hello',
    });
    expect(history.withId(second)?.name).toBeNull();
    expect(history.ofRequest('req_1')?.id).toBe(first);
    expect(history.list(10).map(({ id }) => id)).toEqual([first, second]);
    expect(history.turns(first)).toMatchObject([
      { role: 'user', text: 'hello', requestId: 'req_1', atMs: 1_000 },
      { role: 'assistant', text: 'hi', model: 'm-1' },
      { role: 'user', text: 'more' },
    ]);
  });

  test('started at the same time under one name are one', async () => {
    const path = join(emptyDirectory(), 'history.sqlite');
    const [one, other] = [await open(path), await open(path)];

    const ids = [one, other].map((history) => history.append({ name: 'trip', model: 'm' }, [ask('x')]));

    expect(ids[0]).toBe(ids[1]);
    expect(one.named('trip')?.turns).toBe(2);
  });

  test('are deleted by id and by age, and cannot be read in the file afterwards', async () => {
    const path = join(emptyDirectory(), 'history.sqlite');
    let atMs = 0;
    const history = await openHistory(path, () => (atMs += 1_000));
    const first = history.append({ model: 'm' }, [ask('the secret of the lilies')]);
    history.append({ model: 'm' }, [ask('a younger one')]);

    expect(history.remove({ id: first })).toBe(1);
    expect(history.remove({ id: first })).toBe(0);
    expect(history.search('lilies', 10)).toEqual([]);
    expect(history.remove({ beforeMs: 5_000 })).toBe(1);
    history.close();
    const files = [path, `${path}-wal`].filter(existsSync).map((file) => readFileSync(file, 'latin1'));
    expect(files.join('')).not.toContain('lilies');
  });
});

describe('search', () => {
  test.each([
    ['a word', 'lilies', 1],
    ['in another case', 'WATER Lil', 1],
    ['a part of a word', 'ilie', 1],
    ['text without blanks between words', '東京タワー', 1],
    ['a text too short for the index', '京タ', 1],
    ['one character', '%', 1],
    ['what stands for anything elsewhere', '_', 0],
    ['the words of a query language', '"water" OR lilies NOT*', 0],
    ['what is nowhere', 'nothing', 0],
  ])('finds %s', async (_name, wanted, count) => {
    const history = await open();
    history.append({ name: 'trip', model: 'm' }, [ask('About water lilies, 100%'), ask('東京タワー')]);

    expect(history.search(wanted, 10)).toHaveLength(count);
  });

  test('shows what is around, the newest first', async () => {
    const history = await open();
    history.append({ name: 'trip', model: 'm' }, [
      ask(`${'a '.repeat(100)}needle\n${'b '.repeat(100)}`),
      ask('needle 2'),
    ]);

    const [newest, oldest] = history.search('needle', 10);

    expect(newest).toMatchObject({ name: 'trip', role: 'user', excerpt: 'needle 2' });
    expect(oldest?.excerpt).toMatch(/^…a .* needle b .*…$/);
    expect(history.search('needle', 1)).toHaveLength(1);
  });
});

describe('the file', () => {
  test('is for its owner alone', async () => {
    const path = join(emptyDirectory(), 'history.sqlite');
    await open(path);

    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['is something else', 'not a database', 'is not a SQLite database'],
    ['was damaged', `SQLite format 3\0${'x'.repeat(5_000)}`, "can't open"],
  ])('that %s is refused and left alone', async (_name, content, message) => {
    const path = join(emptyDirectory(), 'history.sqlite');
    writeFileSync(path, content);

    await expect(openHistory(path)).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining(message),
    });
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});
