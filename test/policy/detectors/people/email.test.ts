import { expect, test } from 'vitest';
import { email } from '../../../../src/policy/detectors/people/email.ts';
import { found } from '../found.ts';

test.each([
  ['anna@example.com'],
  ['a.b+tag@mail.example.co.uk'],
  ["o'neil@example.ie"],
  ['юрий@почта.рф'],
  ['ANNA@EXAMPLE.COM'],
])('finds %s at the end of a sentence', (address) => {
  expect(found(email, `Write to ${address}.`)).toEqual([address]);
});

test('finds an address between full-width marks', () => {
  expect(found(email, '联系（anna@example.com）。')).toEqual(['anna@example.com']);
});

test.each([
  ['a package', 'react@18.2.0'],
  ['a repository', 'git@github.com:org/repo.git'],
  ['a user in a URL', 'https://anna@example.com/x'],
  ['an image', 'icon@2x.png'],
  ['a sender that nobody reads', 'Co-Authored-By: Bot <noreply@example.com>'],
  ['a place to copy to', 'anna@example.com:/srv/files'],
  ['a decorator', '@app.route'],
  ['a label of Kotlin', 'this@MainActivity.finish()'],
])('takes %s for no address', (_, text) => {
  expect(found(email, text)).toEqual([]);
});
