import type { Finding } from '../detector.ts';
import { isSecretValue } from './secret-value.ts';

/** Where a password stands by its place, after a user's name or an option of one letter; its group is the password. */
const places: readonly { readonly why: string; readonly mark: RegExp; readonly expression: RegExp }[] = [
  {
    why: 'option of curl',
    mark: /curl|wget/,
    expression: /(?:-u|--user)[ =]["']?[^\s"':]{1,64}:([^\s"']{4,128})/g,
  },
  {
    why: 'option of a command',
    mark: /sshpass|redis-cli|mysql|mongosh?|ldap(?:search|modify|add)|htpasswd/,
    expression:
      /(?:sshpass -p ?|redis-cli\b[^\n|;]{0,80}? -a |mysql(?:dump|admin)?\b[^\n|;]{0,80}? -p|mongo(?:sh)?\b[^\n|;]{0,80}? -p |ldap\w{3,6}\b[^\n|;]{0,80}? -w |htpasswd -\w*b\w*[^\n|;]{0,80}? )["']?([^\s"']{8,128})/g,
  },
  {
    why: 'password of a pair',
    mark: /auth|credential/i,
    expression:
      /(?:auth|credentials?)\w{0,12}[ =:]{0,3}[([{]\s{0,4}["'][^"'\n]{1,64}["'],\s{0,4}["']([^"'\s]{8,128})["']/gi,
  },
];

/** Expressions for such a text; of the folded view. */
export const argumentPrefilters: readonly string[] = [
  '(?:-u|--user)[ =][^ :]{1,64}:[^ ]{4}',
  '(?:sshpass|redis-cli|mysql|mongo|ldap|htpasswd)[a-z]{0,8} [^ ]',
  '(?:auth|credential)[a-z_]{0,12}[ =:]{0,3}[(\\[{] ?["\']',
];

/** `curl -u name:password`, `sshpass -p password`, `auth=("name", "password")` */
export function findCredentialArguments(text: string): readonly Finding[] {
  return places.flatMap(({ why, mark, expression }) => {
    if (!mark.test(text)) return [];
    return [...text.matchAll(expression)].flatMap(({ index, 0: whole, 1: password = '' }) => {
      const start = index + whole.lastIndexOf(password);
      return isSecretValue(password, 'password', false)
        ? [{ start, end: start + password.length, confidence: 'possible', why } as const]
        : [];
    });
  });
}
