import { GatewayError } from '../../errors.ts';
import type { Queries } from '../database/open.ts';
import type { PasswordChecker } from './password.ts';
import type { Sessions } from './sessions.ts';
import type { Throttle } from './throttle.ts';
import { findCredentials } from './users.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface LoginParts {
  readonly queries: Queries;
  readonly passwords: PasswordChecker;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
}

/** Returns the token of a new session. Throws login.failed, the same for an unknown user, and login.throttled. */
export async function logIn(
  { username, password }: Credentials,
  address: string,
  { queries, passwords, sessions, throttle }: LoginParts,
): Promise<string> {
  const succeed = await throttle.attempt(username, address);
  const user = await findCredentials(queries, username);
  const isRight = await checked(passwords.matches(password, user?.password_hash), succeed);
  if (!isRight || user === undefined) throw new GatewayError('login.failed', 'wrong user name or password');
  await succeed();
  return sessions.create(user.id);
}

/** A check that could not be made (too busy) does not count as an attempt. */
async function checked(check: Promise<boolean>, takeBack: () => Promise<void>): Promise<boolean> {
  try {
    return await check;
  } catch (error) {
    await takeBack();
    throw error;
  }
}
