import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { maxima } from '../contract/schemas.ts';
import type { Queries } from '../database/open.ts';
import type { PasswordChecker } from './password.ts';

export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
}

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly email?: string;
}

const nameShape = /^[A-Za-z0-9._-]{1,64}$/;
const emailShape = /^[^\s@]{1,64}@[^\s@]{1,190}$/;
const minPasswordLength = 8;

/** Throws usage.invalid for a name or password that is not allowed, user.exists if the name exists in any case. */
export async function insertUser(
  queries: Queries,
  passwords: PasswordChecker,
  { username, password, email = '' }: NewUser,
): Promise<User> {
  refuseBad(username, password, email);
  const row = await queries
    .insertInto('users')
    .values({
      username,
      username_key: username.toLowerCase(),
      email,
      password_hash: await passwords.hash(password),
    })
    .onConflict((conflict) => conflict.column('username_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new GatewayError('user.exists', `there is already a user ${username}`);
  return { id: row.id, username, email };
}

/** Creates the user `demo` with a random password if there is no user at all; returns the password. */
export async function insertDemoUser(
  queries: Queries,
  passwords: PasswordChecker,
): Promise<string | undefined> {
  if (await hasUsers(queries)) return undefined;
  const password = randomPassword();
  await insertUser(queries, passwords, { username: demoUser, password });
  return password;
}

export const demoUser = 'demo';

export async function hasUsers(queries: Queries): Promise<boolean> {
  return (await queries.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export function randomPassword(): string {
  return randomBytes(12).toString('base64url');
}

/** Sets another password, and ends the user's sessions. Throws usage.invalid, and user.unknown. */
export async function changePassword(
  queries: Queries,
  passwords: PasswordChecker,
  { username, password }: Omit<NewUser, 'email'>,
): Promise<User> {
  refuseBad(username, password, '');
  const row = await queries
    .updateTable('users')
    .set({ password_hash: await passwords.hash(password) })
    .where('username_key', '=', username.toLowerCase())
    .returning(['id', 'username', 'email'])
    .executeTakeFirst();
  if (row === undefined) {
    throw new GatewayError(
      'user.unknown',
      `there is no user ${username}; "gateway plants user add" makes one`,
    );
  }
  await queries.deleteFrom('sessions').where('user_id', '=', row.id).execute();
  return row;
}

export async function findCredentials(queries: Queries, username: string) {
  // An impossible name is looked up all the same, so that it takes the same time.
  const key = nameShape.test(username) ? username.toLowerCase() : '';
  return queries
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('username_key', '=', key)
    .executeTakeFirst();
}

function refuseBad(username: string, password: string, email: string): void {
  if (!nameShape.test(username)) {
    throw new GatewayError(
      'usage.invalid',
      'a user name has 1 to 64 letters, digits, dots, dashes and underscores',
    );
  }
  if (password.length < minPasswordLength || password.length > maxima.login) {
    throw new GatewayError(
      'usage.invalid',
      `a password has ${minPasswordLength} to ${maxima.login} characters; this one has ${password.length}`,
    );
  }
  if (email !== '' && !emailShape.test(email)) {
    throw new GatewayError('usage.invalid', 'the e-mail address is not of the form name@host');
  }
}
