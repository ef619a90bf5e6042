import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { command, failure, printed } from '../kit/command.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

test('new: prints the key once on stdout and the line with its hash on stderr', async () => {
  const ended = await command('key new --project shop --expires 2099-06-30 --id web');

  const key = ended.stdout.trimEnd();
  expect(ended).toEqual({
    exit: 0,
    stdout: expect.stringMatching(/^gw_[0-9A-Za-z]{38}\n$/),
    stderr: `add to projects.shop.keys in gateway.yaml:\n- { id: web, hash: "${sha256(key)}", expires: 2099-06-30 }\n`,
  });
});

test('new: the line is one that a configuration takes', async () => {
  const { json } = await command('key new -o json');
  const yaml = `policies: { a: { apply: all, default: deny } }\nprojects:\n  shop:\n    keys:\n      ${json.yaml}\n`;

  expect(await command('config check', { files: { 'gateway.yaml': yaml } })).toEqual(
    printed('gateway.yaml: fine\n'),
  );
  expect(json).toMatchObject({ hash: sha256(json.key), project: null, expires: null });
});

test('new -q: prints the key alone', async () => {
  expect(await command('key new -q')).toEqual(printed(expect.stringMatching(/^gw_/)));
});

test.each([
  ['--expires', 'soon'],
  ['--expires', '2020-01-01'],
  ['--project', 'a b'],
  ['--id', 'x"y'],
])('new %s %s: is a usage error', async (...options) => {
  expect(await command(['key', 'new', ...options])).toMatchObject({ exit: 2, stdout: '' });
});

test.each(['', '\n', '\r\n'])('hash: reads the key from standard input, ending with %j', async (end) => {
  expect(await command('key hash', { stdin: `a-key-of-sixteen-and-more${end}` })).toEqual(
    printed(`${sha256('a-key-of-sixteen-and-more')}\n`),
  );
});

test.each([
  ['', 'at least 16 visible characters'],
  ['too-short', 'at least 16 visible characters'],
  ['two-keys-in-one-file\nanother-key-in-it-too', 'at least 16 visible characters'],
  ['gw_0Wsq1jQdK1VXEMZE9AxEh16JArh6UbLf0CrwjX', 'its checksum is wrong'],
  ['x'.repeat(5000), 'more than a key'],
])('hash: refuses %j without repeating it', async (stdin, expected) => {
  const ended = await command('key hash', { stdin });

  expect(ended).toEqual(failure(2, expected));
  expect(stdin !== '' && ended.stderr.includes(stdin)).toBe(false);
});

test('hash: takes no key as an argument', async () => {
  expect(await command('key hash a-key-of-sixteen-and-more')).toMatchObject({ exit: 2, stdout: '' });
});
