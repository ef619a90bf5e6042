import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SessionFile } from '../../../../src/cli/serve/inspector/session-file.ts';
import { emptyDirectory } from '../../../kit/command.ts';

const day = 24 * 3_600_000;
const id = (number: number) => number.toString(16).padStart(32, '0');
const fileOf = (home: string) => join(home, '.local/state/gateway/inspector.json');

test('keeps the secret and the ended sessions, for this user only', () => {
  const HOME = emptyDirectory();
  const before = new SessionFile({ HOME });
  before.end(id(1), Date.now() + day);
  const after = new SessionFile({ HOME });

  expect(after.secret).toBe(before.secret);
  expect([after.isEnded(id(1)), after.isEnded(id(2))]).toEqual([true, false]);
  expect(statSync(fileOf(HOME)).mode & 0o777).toBe(0o600);
});

test('forgets ended sessions that would have expired by now', () => {
  const HOME = emptyDirectory();
  let nowMs = 0;
  const file = new SessionFile({ HOME }, () => nowMs);
  file.end(id(1), day);
  nowMs = 2 * day;
  file.end(id(2), 3 * day);

  const { ended } = JSON.parse(readFileSync(fileOf(HOME), 'utf8')) as { ended: object };

  expect(Object.keys(ended)).toEqual([id(2)]);
});

test('ends all sessions rather than forgetting one that was ended', () => {
  const HOME = emptyDirectory();
  const { secret } = new SessionFile({ HOME });
  const ended = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [id(i), day]));
  writeFileSync(fileOf(HOME), JSON.stringify({ secret, ended }));
  const file = new SessionFile({ HOME }, () => 0);
  file.end(id(999), day);
  const full = file.secret;
  file.end(id(1_000), day);

  expect(full).toBe(secret);
  expect(file.secret).not.toBe(secret);
  expect(new SessionFile({ HOME }).secret).toBe(file.secret);
});

test('two gateways of one user lose none of what the other has ended', () => {
  const HOME = emptyDirectory();
  const [one, other] = [new SessionFile({ HOME }), new SessionFile({ HOME })];
  one.end(id(1), Date.now() + day);
  other.end(id(2), Date.now() + day);
  const third = new SessionFile({ HOME });

  expect([third.isEnded(id(1)), third.isEnded(id(2))]).toEqual([true, true]);
  one.renew();
  other.end(id(3), Date.now() + day);
  expect(other.secret).toBe(one.secret);
});

test('what one gateway ends is ended in another that runs', () => {
  const HOME = emptyDirectory();
  const [one, other] = [new SessionFile({ HOME }), new SessionFile({ HOME })];
  one.end(id(1), Date.now() + day);

  expect(other.isEnded(id(1))).toBe(true);
  one.renew();
  expect(other.secret).toBe(one.secret);
});

test('deleting the file ends all sessions at once, and no gateway that runs brings them back', () => {
  const HOME = emptyDirectory();
  const file = new SessionFile({ HOME });
  const { secret } = file;
  rmSync(fileOf(HOME));
  file.end(id(1), Date.now() + day);

  expect(file.secret).not.toBe(secret);
  expect(new SessionFile({ HOME }).secret).toBe(file.secret);
});

test('what could not be written is written as soon as it can be', () => {
  const HOME = emptyDirectory();
  const file = new SessionFile({ HOME });
  const { secret } = file;
  // A directory in its place keeps even root from writing it.
  rmSync(fileOf(HOME));
  mkdirSync(fileOf(HOME));
  expect(() => file.renew()).toThrow(/can't be used/);
  rmSync(fileOf(HOME), { recursive: true });
  const renewed = file.secret;

  expect(renewed).not.toBe(secret);
  expect(new SessionFile({ HOME }).secret).toBe(renewed);
});

test.each(['', '{}', '[]', 'null', '{"secret":7}', `{"secret":"${'g'.repeat(64)}"}`])(
  'a damaged file (%j) is written anew',
  (text) => {
    const HOME = emptyDirectory();
    const { secret } = new SessionFile({ HOME });
    writeFileSync(fileOf(HOME), text);
    const file = new SessionFile({ HOME });

    expect(file.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(file.secret).not.toBe(secret);
    expect(new SessionFile({ HOME }).secret).toBe(file.secret);
  },
);

test('whatever else is in the file ends nothing', () => {
  const HOME = emptyDirectory();
  const { secret } = new SessionFile({ HOME });
  const ended = { __proto__: null, constructor: 7, [id(1)]: 'soon', toString: Date.now() + day };
  writeFileSync(fileOf(HOME), JSON.stringify({ secret, ended }));
  const file = new SessionFile({ HOME });

  expect(file.secret).toBe(secret);
  expect([id(1), 'constructor', 'toString'].map((each) => file.isEnded(each))).toEqual([false, false, false]);
});
