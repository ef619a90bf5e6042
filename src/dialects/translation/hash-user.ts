import { createHash } from 'node:crypto';

const lengthLimit = 64;

/** Users of agents are long texts with account ids in them, of which another provider should learn nothing. */
export function hashUser(user: string | undefined): string | undefined {
  if (user === undefined || user === '') return undefined;
  return createHash('sha256').update(user).digest('hex').slice(0, lengthLimit);
}

/** OpenAI takes no more than 64 characters. */
export function limitUser(user: string | undefined): string | undefined {
  return user !== undefined && user.length > lengthLimit ? hashUser(user) : user;
}
