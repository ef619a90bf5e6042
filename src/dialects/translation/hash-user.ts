import { createHash } from 'node:crypto';

const lengthLimit = 64;

/** Agents send long texts with account ids as user, which another provider should not get to see. */
export function hashUser(user: string | undefined): string | undefined {
  if (user === undefined || user === '') return undefined;
  return createHash('sha256').update(user).digest('hex').slice(0, lengthLimit);
}

/** OpenAI takes no more than 64 characters. */
export function limitUser(user: string | undefined): string | undefined {
  return user !== undefined && user.length > lengthLimit ? hashUser(user) : user;
}
