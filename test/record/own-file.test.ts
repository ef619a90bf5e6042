import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openOwnFile } from '../../src/record/recorder.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const record = '{"time":"2026-11-24T12:00:00.000Z","request_id":"req_1","method":"POST"}\n';

function fileWith(text: string): string {
  const file = join(emptyDirectory(), 'records.jsonl');
  writeFileSync(file, text);
  return file;
}

test.each([
  ['empty', ''],
  ['of records', record],
  ['of records, the first of which was removed', `${' '.repeat(record.length - 1)}\n${record}`],
])('a file that is %s is appended to', (_what, text) => {
  const file = fileWith(text);

  const descriptor = openOwnFile(file);
  writeSync(descriptor, record);
  closeSync(descriptor);

  expect(readFileSync(file, 'utf8')).toBe(text + record);
});

describe('what is no file of ours is refused, and left as it is', () => {
  test.each([
    ['a shell script', '#!/bin/sh\n'],
    ['an empty line', '\n'],
    ['a short line of spaces', `${' '.repeat(44)}\n`],
    ['other JSON lines', '{"time":"2026-11-24T12:00:00.000Z","level":30}\n'],
    ['a record behind something else', `alias ls=rm\n${record}`],
  ])('%s', (_what, text) => {
    const file = fileWith(text);

    expect(() => openOwnFile(file)).toThrow(`${file}: its first line is no record of the gateway`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each<[string, (file: string, own: string) => void, string]>([
    ['a link to a file of records', (file, own) => symlinkSync(own, file), 'it is a symbolic link'],
    ['a link to nothing', (file) => symlinkSync(`${file}.missing`, file), 'it is a symbolic link'],
    ['a second name of a file', (file, own) => linkSync(own, file), 'it has other names'],
    ['a pipe that nobody reads', (file) => execFileSync('mkfifo', [file]), 'it is no regular file'],
  ])('%s', (_what, make, problem) => {
    const own = fileWith(record);
    make(`${own}.other`, own);

    expect(() => openOwnFile(`${own}.other`)).toThrow(problem);
    expect(readFileSync(own, 'utf8')).toBe(record);
    expect(existsSync(`${own}.other.missing`)).toBe(false);
  });

  test('a device', () => {
    expect(() => openOwnFile('/dev/null')).toThrow('it is no regular file');
  });
});
