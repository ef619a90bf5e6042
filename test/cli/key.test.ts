import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWorkspace } from '../config/workspace.ts';
import { command, printed } from '../kit/command.ts';

const cwd = process.cwd();
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

test('new: prints the key once on stdout and the line with its hash on stderr', async () => {
  const { exit, stdout, stderr } = await command(
    ['key', 'new', '--project', 'shop', '--expires', '2099-06-30', '--id', 'web'],
    { cwd },
  );

  const key = stdout.trimEnd();
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^gw_[0-9A-Za-z]{38}\n$/);
  expect(stderr).toBe(
    `add to projects.shop.keys in gateway.yaml:\n- { id: web, hash: "${sha256(key)}", expires: 2099-06-30 }\n`,
  );
});

test('new: the line is one that a configuration takes', async () => {
  const { stdout } = await command(['key', 'new', '-o', 'json'], { cwd });
  const made = JSON.parse(stdout);
  const yaml = `policies: { a: { apply: all, default: deny } }\nprojects:\n  shop:\n    keys:\n      ${made.yaml}\n`;

  const check = await command(['config', 'check'], { cwd: createWorkspace({ 'gateway.yaml': yaml }) });

  expect(check).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  expect(made).toMatchObject({ hash: sha256(made.key), project: null, expires: null });
});

test('new -q: prints the key alone', async () => {
  expect(await command(['key', 'new', '-q'], { cwd })).toMatchObject({
    stdout: expect.stringMatching(/^gw_/),
    stderr: '',
  });
});

test.each([
  [['--expires', 'soon']],
  [['--expires', '2020-01-01']],
  [['--project', 'a b']],
  [['--id', 'x"y']],
])('new %j: is a usage error', async (options) => {
  expect(await command(['key', 'new', ...options], { cwd })).toMatchObject({ exit: 2, stdout: '' });
});

test('hash: reads the key from standard input, with or without a line end', async () => {
  const expected = `${sha256('a-key-of-sixteen-and-more')}\n`;

  for (const end of ['', '\n', '\r\n']) {
    const stdin = `a-key-of-sixteen-and-more${end}`;
    expect(await command(['key', 'hash'], { cwd, stdin })).toEqual(printed(expected));
  }
});

test.each([
  ['', 'at least 16 visible characters'],
  ['too-short', 'at least 16 visible characters'],
  ['two-keys-in-one-file\nanother-key-in-it-too', 'at least 16 visible characters'],
  ['gw_0Wsq1jQdK1VXEMZE9AxEh16JArh6UbLf0CrwjX', 'its checksum is wrong'],
  ['x'.repeat(5000), 'more than a key'],
])('hash: refuses %j without repeating it', async (stdin, expected) => {
  const { exit, stdout, stderr } = await command(['key', 'hash'], { cwd, stdin });

  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(expected);
  expect(stdin !== '' && stderr.includes(stdin)).toBe(false);
});

test('hash: takes no key as an argument', async () => {
  expect(await command(['key', 'hash', 'a-key-of-sixteen-and-more'], { cwd })).toMatchObject({
    exit: 2,
    stdout: '',
  });
});
