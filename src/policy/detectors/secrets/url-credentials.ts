import type { Finding } from '../detector.ts';
import { randomRun, uuid } from '../shapes/random-run.ts';
import { isAlphanumeric } from '../text/characters.ts';
import { isPlaceholder } from './placeholder.ts';

/**
 * Passwords in URLs (`postgres://user:password@host`), of databases and everything else. The finding is the URL up to
 * its host, so that a redacted text still shows where it pointed. Templates and stock passwords of examples and
 * development set-ups are not findings.
 */
export function findUrlCredentials(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    credentials.lastIndex = at + 3;
    if (!credentials.test(text)) continue;
    const end = credentials.lastIndex - 1;
    const start = schemeStart(text, at);
    const [user = '', ...password] = text.slice(at + 3, end).split(':');
    if (start < at && password.length > 0 && isReal(user, password.join(':'))) findings.push({ start, end });
  }
  return findings;
}

/** Up to the last "@" before the host ends. */
const credentials = /[^\u0000- /"<>`]{0,255}@/y;

function schemeStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < 32 && isSchemeCharacter(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isSchemeCharacter(code: number): boolean {
  return isAlphanumeric(code) || code === 43 || code === 45 || code === 46;
}

function isReal(user: string, password: string): boolean {
  // GitHub used to accept a token as user name with this password.
  if (password === 'x-oauth-basic') return /^[A-Za-z0-9_]{20,}$/.test(user);
  if (
    password.length < 4 ||
    /[\s'"`(){}[\]<>|\\]|\$[A-Za-z_]|%[A-Z_]+%|%[sdv]|\*\*\*|\.\.\.|…/.test(password)
  )
    return false;
  if (/[\s'"`(){}<>\\]/.test(user)) return false;
  const lower = password.toLowerCase();
  if (lower === user.toLowerCase() || stockPasswords.has(lower) || new Set(lower).size < 3) return false;
  return !/^(?:your|my|the|some|db|user|super|example|test)?[-_]?(?:pass|password|passwd|pwd|pw|secret|token|key)[-_]?(?:here|123|1234)?$/.test(
    lower,
  );
}

const stockPasswords = new Set(
  'password passwd pass postgres mysql mongo redis root admin user username guest secret changeme change_me change-me example test testing demo dev development local localhost default hunter2 letmein 1234 12345 123456 12345678 123456789 foobar redacted placeholder credentials token port host hostname x-oauth-basic docker rabbitmq minio minioadmin sa none null undefined xxxx mysecretpassword'.split(
    ' ',
  ),
);

export const webhookPrefilter = '://[^ ]{0,256}(?:hook|trigger|deploy|invite|reset|magic|robot)';

const maxAddressLength = 512;
const address = new RegExp(`https?://[\\w.-]+[\\w./:%?&=@~+-]{1,${maxAddressLength}}`, 'g');
const hookWords = /(?:hook(?:s|b2|bot)?|trigger|deploy|invite|reset|magic[-_]?link|robot)(?![a-z])/i;
const minBits = 80;
const commit = /^[0-9a-f]{40}$/;

/** Webhook URLs: whoever knows the random part can send messages, so they are as sensitive as keys. */
export function findWebhookAddresses(text: string): readonly Finding[] {
  if (!text.includes('://') || !hookWords.test(text)) return [];
  return [...text.matchAll(address)].flatMap(({ index: start, 0: whole }) => {
    const found =
      hookWords.test(whole) &&
      whole
        .split(/[/?&=@]/)
        .slice(3)
        .some(isRandomPart);
    return found
      ? [{ start, end: start + whole.length, confidence: 'possible', why: 'webhook address' } as const]
      : [];
  });
}

function isRandomPart(part: string): boolean {
  if (uuid.test(part)) return true;
  const random = randomRun(part);
  return random !== undefined && random.bits >= minBits && !commit.test(part) && !isPlaceholder(part);
}
