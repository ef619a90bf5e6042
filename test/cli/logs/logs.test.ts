import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removeRecords } from '../../../src/cli/logs/remove.ts';
import { openHistory } from '../../../src/history/history.ts';
import { command, type Environment, failure, homeWith, printed, startCommand } from '../../kit/command.ts';

function record(n: number, more: object = {}) {
  return {
    time: new Date(1_700_000_000_000 + n * 1_000).toISOString(),
    request_id: `req_${n}`,
    method: 'POST',
    path: '/v1/messages',
    endpoint: 'messages',
    project: 'shop',
    model: 'm',
    status: 200,
    outcome: 'answered',
    bytes_in: 1,
    bytes_out: 1,
    total_ms: 10,
    config: 'hash',
    ...more,
  };
}

const lines = (...records: object[]) => records.map((each) => `${JSON.stringify(each)}\n`).join('');

/** Words, or a line of them. */
type Line = string | readonly string[];
const wordsOf = (line: Line) => (typeof line === 'string' ? line.split(' ').filter(Boolean) : line);

function withRecords(text: string) {
  const cwd = homeWith({ '.local/state/gateway/records.jsonl': text });
  const directory = join(cwd, '.local/state/gateway');
  const run = (line: Line = '', environment: Environment = {}) =>
    command(['logs', ...wordsOf(line)], { cwd, ...environment });
  return {
    ...{ cwd, directory, run },
    file: join(directory, 'records.jsonl'),
    idsOf: async (line: Line = '') => ids((await run(line)).stdout),
  };
}

const deleted = (count: number) => failure(0, `deleted ${count} records; the ledger keeps what they cost\n`);

const ids = (stdout: string) => [...stdout.matchAll(/req_\d+/g)].map(([id]) => id);

describe('logs', () => {
  test('shows the latest exchanges, the newest last', async () => {
    const { idsOf } = withRecords(lines(...Array.from({ length: 30 }, (_, n) => record(n))));

    expect(await idsOf('-n 3')).toEqual(['req_27', 'req_28', 'req_29']);
    expect(await idsOf()).toHaveLength(20);
  });

  test('only what was refused, of a project, since a time', async () => {
    const now = { time: new Date().toISOString() };
    const refused = record(1, { outcome: 'refused', status: 403, reason: 'content.codename' });
    const { idsOf } = withRecords(lines(refused, record(2, { project: 'other' }), record(3, now)));

    expect(await idsOf('--blocked')).toEqual(['req_1']);
    expect(await idsOf('--project other')).toEqual(['req_2']);
    expect(await idsOf('--since 1h')).toEqual(['req_3']);
  });

  test("only a session's, in whatever project", async () => {
    const others = [
      record(1, { session: 'ses_1' }),
      record(2, { session: 'SES_1' }),
      record(3, { model: 'ses_1' }),
    ];
    const last = record(4, { session: 'ses_1', project: 'other' });
    const { idsOf } = withRecords(lines(...others, last, record(5, { session: 'ses_12' })));

    expect(await idsOf('--session ses_1')).toEqual(['req_1', 'req_4']);
    expect(await idsOf('--session ses_1 --project other')).toEqual(['req_4']);
    expect(await idsOf('--session ses')).toEqual([]);
  });

  test('a table for people, tabs in a pipe, JSON for programs', async () => {
    const { run } = withRecords(lines(record(1)));

    const terminal = await run('', { isTerminal: true, env: { NO_COLOR: '1', TZ: 'UTC' } });

    expect(terminal.stdout).toMatch(/^2023-11-14 \d\d:\d\d:\d\d ✓ 200 shop messages m 10ms req_1\n$/);
    expect((await run()).stdout).toBe(
      '2023-11-14T22:13:21.000Z\t200\tanswered\tshop\tmessages\tm\t\t\t\t10\treq_1\n',
    );
    expect((await run('-o json')).json).toEqual([record(1)]);
  });

  test('the decision and its rule, and ids that fit into a line, by which it is found', async () => {
    const rules = [
      { id: 'watched', action: 'redact', mode: 'monitor', count: 1 },
      { id: 'secrets', action: 'redact', mode: 'enforce', count: 1 },
    ];
    const id = 'req_4107e02521c9b50329e620d5c6f059';
    const { run } = withRecords(
      lines(
        record(1, { request_id: id, decision: 'redact', rules, time: new Date().toISOString() }),
        record(2, { request_id: 'req_4107e0262222222222222222222222' }),
      ),
    );

    const terminal = await run('-n 5', { isTerminal: true, env: { NO_COLOR: '1' } });

    expect(terminal.stdout).toMatch(
      /^\d\d:\d\d:\d\d ✓ 200 shop messages m 10ms redacted secrets req_4107e025\n/,
    );
    expect((await run()).stdout).toContain(`\tm\tredact\tsecrets\t\t10\t${id}\n`);
    expect((await run('show req_4107e025')).stdout).toContain(id);
    expect((await run('show req_4107e')).stderr).toContain('several exchanges begin with req_4107e');
    expect((await run('rm req_4107e')).exit).toBe(5);
    expect((await run('rm req_4107e025')).exit).toBe(0);
    expect((await run('show req_4107e')).stdout).toContain('req_4107e026');
  });

  test('lines that are no record, are cut or very long do not disturb it', async () => {
    const long = record(2, { request_body: 'x'.repeat(3_000_000) });
    const text = `not json\n{"a":1}\n\n${lines(record(1), long, record(3))}{"request_id":"req_4","ti`;
    expect(await withRecords(text).idsOf()).toEqual(['req_1', 'req_2', 'req_3']);
  });

  test('no records at all are an empty list', async () => {
    expect(await command('logs')).toEqual(
      failure(0, /^no exchange is recorded yet: "gateway serve" records each one\n$/),
    );
    expect(await command('logs --blocked')).toEqual(printed());
    expect(await command('logs -q')).toEqual(printed());
  });

  test('-f shows what comes, also after the file was moved away, until Ctrl-C', async () => {
    const { cwd, file } = withRecords(lines(record(1)));
    const running = startCommand('logs -f -o json', { cwd });
    await running.wrote('stdout', 'req_1');

    appendFileSync(file, lines(record(2)));
    await running.wrote('stdout', 'req_2');
    renameSync(file, `${file}.1`);
    writeFileSync(file, lines(record(3)));
    await running.wrote('stdout', 'req_3');
    running.signal('SIGINT');

    const ended = await running.ended;
    expect([ended.exit, ended.stderr]).toEqual([130, '']);
    expect(ended.lines.map((line) => line.request_id)).toEqual(['req_1', 'req_2', 'req_3']);
  });
});

describe('show, search and rm', () => {
  async function withBoth() {
    const kit = withRecords(
      lines(record(1, { request_body: '{"q":"about \\"Water lilies\\""}' }), record(2)),
    );
    const history = await openHistory(join(kit.directory, 'history.sqlite'));
    history.append({ name: 'trip', model: 'm' }, [
      { role: 'user', text: 'water lilies?', requestId: 'req_2' },
      { role: 'assistant', text: 'In ponds.', requestId: 'req_2' },
    ]);
    history.close();
    return kit;
  }

  test('show knows an exchange, a conversation by id and name, and both by a request', async () => {
    const { run } = await withBoth();

    expect((await run('show req_1 -o json')).json).toMatchObject({ exchange: { request_id: 'req_1' } });
    expect((await run('show trip')).stdout).toMatch(
      /^c1 · trip · m\n\nuser .*\nwater lilies\?\n\nassistant .*\nIn ponds\.\n$/,
    );
    expect((await run('show req_2 -o json')).json).toMatchObject({
      exchange: { status: 200 },
      conversation: { id: 'c1' },
    });
    expect((await run('show c9')).exit).toBe(5);
    expect((await run('show req_9')).exit).toBe(5);
  });

  test('search finds conversations and recorded bodies, in any case', async () => {
    const { run } = await withBoth();

    const { exit, json } = await run(['search', 'WATER lilies', '-o', 'json']);

    expect(exit).toBe(0);
    expect(json.map(({ in: place }: { in: string }) => place)).toEqual(['trip', 'req_1']);
    expect((await run('search "water -o json')).json).toHaveLength(1);
    expect(await run('search nothing')).toEqual(printed());
    expect((await run(['search', ' '])).exit).toBe(2);
  });

  test('search reads megabytes, newest first, lines longer than a piece included', async () => {
    const body = (found: boolean, length: number) => ({
      request_body: `${found ? 'Étang (1+1)* der Lilien ' : ''}${'lorem ipsum '.repeat(length / 12)}`,
    });
    // Pieces of a megabyte end in the middle of lines, of which one is longer than two pieces.
    const records = Array.from({ length: 400 }, (_, n) =>
      record(n, body(n % 50 === 7, n === 207 ? 2_500_000 : 9_000)),
    );
    const { idsOf } = withRecords(lines(...records));
    const wanted = ['req_357', 'req_307', 'req_257', 'req_207', 'req_157', 'req_107', 'req_57', 'req_7'];

    expect(await idsOf(['search', 'étang (1+1)* DER'])).toEqual(wanted);
    expect(await idsOf('search étang -n 2')).toEqual(wanted.slice(0, 2));
  });

  test('records are found in the file that the configuration names, also if that is a pipe', async () => {
    const { cwd, run, idsOf } = withRecords(lines(record(1)));
    const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 });
    const named = `records: { file: ${join(cwd, 'other.jsonl')} }\n`;
    write('other.jsonl', lines(record(2)));
    write('named.yaml', named);
    write('plain.yaml', 'policies: {}\n');
    execFileSync('mkfifo', ['-m', '600', join(cwd, 'pipe.yaml')]);

    expect(await idsOf('-c named.yaml')).toEqual(['req_2']);
    expect(await idsOf('-c plain.yaml')).toEqual(['req_1']);
    expect((await run('-c missing.yaml')).exit).toBe(2);
    const piped = idsOf('-c pipe.yaml');
    await writeFile(join(cwd, 'pipe.yaml'), named);
    expect(await piped).toEqual(['req_2']);
  });

  test('rm deletes one, the old or all conversations', async () => {
    const { run } = await withBoth();

    expect((await run('rm --before 1h')).stderr).toBe('deleted 0 conversations\n');
    expect((await run('rm trip')).stderr).toBe('deleted a conversation\n');
    expect((await run('rm trip')).exit).toBe(5);
    expect((await run('rm')).exit).toBe(2);
    expect((await run('rm --all c1')).exit).toBe(2);
    expect((await run('--conversations')).stdout).toBe('');
  });

  test('rm of a request overwrites its record, and nothing else', async () => {
    const text = lines(record(1, { request_body: 'a secret' }), record(2), record(1, { repeats: 3 }));
    const { run, file, idsOf } = withRecords(`${text}{"request_id":"req_1","time":"unfinished`);
    const before = statSync(file);

    expect(await run('rm req_1')).toEqual(deleted(2));
    const after = readFileSync(file, 'utf8');
    expect(after).not.toContain('a secret');
    expect(after.split('\n').map((line) => line.trim())).toEqual([
      '',
      lines(record(2)).trim(),
      '',
      '{"request_id":"req_1","time":"unfinished',
    ]);
    expect([statSync(file).ino, statSync(file).size]).toEqual([before.ino, before.size]);
    expect((await run('rm req_1')).exit).toBe(5);
    expect((await run('show req_1')).exit).toBe(5);
    expect(await idsOf()).toEqual(['req_2']);
  });

  test('rm of a request deletes what a full disk or a crash left of its record', async () => {
    const secret = JSON.stringify(record(1, { request_body: 'a secret' })).slice(0, -4);
    const whole = lines(record(2));
    const { run, file, idsOf } = withRecords(`${secret}\n${secret}${whole}${lines(record(1))}`);

    expect(await run('rm req_1')).toEqual(deleted(3));
    expect(readFileSync(file, 'utf8').trim()).toBe(whole.trim());
    expect(await idsOf()).toEqual(['req_2']);
  });

  test.each([
    ['all', '--all'],
    ['the old ones', '--before 1h'],
  ])('rm of %s deletes truncated ones too', async (_which, option) => {
    const { run, file } = withRecords(`${JSON.stringify(record(1)).slice(0, -4)}\n\n${lines(record(2))}`);

    expect(await run(`rm --exchanges ${option}`)).toEqual(deleted(2));
    expect(readFileSync(file, 'utf8').trim()).toBe('');
  });

  test('rm leaves a line that may still be written, and reports that', async () => {
    const unfinished = JSON.stringify(record(1, { request_body: 'a secret' })).slice(0, -4);
    const { run, file } = withRecords(`${lines(record(2))}${unfinished}`);

    expect(await run('rm req_1')).toEqual(
      failure(0, /^gateway: the last line of .*records\.jsonl is incomplete and was left as it is.*\n.*/),
    );
    expect(readFileSync(file, 'utf8').endsWith(unfinished)).toBe(true);
  });

  test('those of earlier days are listed, found and deleted, too', async () => {
    const { run, directory, idsOf } = withRecords(lines(record(5), record(6)));
    const earlier = (date: string, ...records: object[]) =>
      writeFileSync(join(directory, `records.${date}.jsonl`), lines(...records));
    earlier('2023-11-13', record(1, { model: 'lilies' }), record(2));
    earlier('2023-11-14', record(3));
    earlier('2023-11-14.1', record(4));

    expect(await idsOf('-n 5')).toEqual(['req_2', 'req_3', 'req_4', 'req_5', 'req_6']);
    expect(await idsOf(['search', 'lilies'])).toEqual(['req_1']);
    expect((await run('show req_1 -o json')).json).toMatchObject({ exchange: { model: 'lilies' } });
    const first = join(directory, 'records.2023-11-13.jsonl');
    utimesSync(first, 1_700_000_000, 1_700_000_000);
    expect(await run('rm req_1')).toEqual(failure(0, 'deleted a record; the ledger keeps what it cost\n'));
    expect(statSync(first).mtimeMs).toBe(1_700_000_000_000);
    expect(await idsOf()).toEqual(['req_2', 'req_3', 'req_4', 'req_5', 'req_6']);
    expect(await run('rm --exchanges --all')).toEqual(deleted(5));
  });

  test('rm damages no record that a rotation put where another was', async () => {
    const first = lines(record(1, { path: '/v1/messages' }));
    const other = lines(record(3, { path: '/v1/messages' }));
    const { file } = withRecords(`${first}${lines(record(2))}`);
    let isRotated = false;

    const { count } = await removeRecords(file, ({ request_id: id }) => {
      if (!isRotated) {
        isRotated = true;
        truncateSync(file);
        appendFileSync(file, `${other}${first}`);
      }
      return id === 'req_1';
    });

    expect(count).toBe(1);
    expect(readFileSync(file, 'utf8').trim()).toBe(other.trim());
  });

  test('rm changes nothing through a symbolic link, and names it', async () => {
    const { run, file } = withRecords(lines(record(1)));
    renameSync(file, `${file}.real`);
    symlinkSync(`${file}.real`, file);

    expect(await run('rm --exchanges --all')).toEqual(
      failure(2, `${file} can't be changed (ELOOP): it is a symbolic link`),
    );
    expect(readFileSync(`${file}.real`, 'utf8')).toBe(lines(record(1)));
  });

  test('rm --exchanges deletes the old or all records, and keeps what is appended meanwhile', async () => {
    const long = { request_body: 'x'.repeat(2_500_000) };
    const now = { time: new Date().toISOString() };
    const { run, file, idsOf } = withRecords(lines(record(1, long), record(2), record(3, now)));
    const appending = openSync(file, 'a');

    expect(await run('rm --exchanges --before 1h')).toEqual(deleted(2));
    writeSync(appending, lines(record(4, now)));
    expect(await idsOf()).toEqual(['req_3', 'req_4']);
    expect(await run('rm --exchanges --all -q')).toEqual(printed());
    closeSync(appending);

    expect(readFileSync(file, 'utf8').trim()).toBe('');
    expect((await run('rm req_9 --exchanges')).exit).toBe(2);
    expect((await run('rm --exchanges')).exit).toBe(2);
  });

  test('rm of a request without a record names the conversation that it is part of', async () => {
    const { run } = await withBoth();
    expect((await run('rm req_2')).exit).toBe(0);

    expect(await run('rm req_2')).toEqual(
      failure(5, 'it is part of the conversation c1: gateway logs rm c1'),
    );
  });
});
