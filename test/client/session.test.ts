import { writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { readSession, removeSession, saveSession } from '../../src/client/session.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const baseUrl = 'http://127.0.0.1:4101/v3';
const session = { baseUrl, username: 'rosa', token: 'token', expiresAt: 2_000 };
let env: Record<string, string>;
beforeEach(() => {
  env = { XDG_STATE_HOME: emptyDirectory() };
});

test('a saved session is read until it runs out, for its own store', () => {
  saveSession(env, session);

  expect(readSession(env, baseUrl, 1_999)).toEqual(session);
  expect(readSession(env, baseUrl, 2_000)).toBeUndefined();
  expect(readSession(env, 'http://127.0.0.1:4102/v3', 1_999)).toBeUndefined();
});

test('a removed session is gone, and removing it again is no failure', () => {
  saveSession(env, session);
  removeSession(env, baseUrl);
  removeSession(env, baseUrl);

  expect(readSession(env, baseUrl, 1_999)).toBeUndefined();
});

test.each(['', 'rubbish', '{}', 'null', '{"baseUrl":"http://127.0.0.1:4101/v3","token":5}'])(
  'a damaged file (%s) is as no session',
  (content) => {
    const file = saveSession(env, session);
    writeFileSync(file, content);

    expect(readSession(env, baseUrl, 1_999)).toBeUndefined();
  },
);
