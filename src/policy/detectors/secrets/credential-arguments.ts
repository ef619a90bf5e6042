import type { Finding } from '../detector.ts';
import { isSecretValue } from './secret-value.ts';

interface Place {
  readonly why: string;
  /** What a text must have for the expression to be tried. */
  readonly mark: RegExp;
  /** Its group is the password; every repetition has a limit. */
  readonly expression: RegExp;
}

const places: readonly Place[] = [
  {
    why: 'option of curl',
    mark: /curl|wget/,
    expression: /(?:-u|--user)[ =]["']?[^\s"':]{1,64}:([^\s"']{4,128})/g,
  },
  {
    why: 'option of a command',
    mark: /sshpass|redis-cli|mysql|mongosh?|ldap(?:search|modify|add)|htpasswd|(?:docker|podman|helm) /,
    expression:
      /(?:sshpass -p ?|redis-cli\b[^\n|;]{0,80}? -a |mysql(?:dump|admin)?\b[^\n|;]{0,80}? -p|mongo(?:sh)?\b[^\n|;]{0,80}? -p |(?:docker|podman|helm)\b[^\n|;]{0,40}? login [^\n|;]{0,80}?(?:-p|--password) ?|ldap\w{3,6}\b[^\n|;]{0,80}? -w |htpasswd -\w*b\w*[^\n|;]{0,80}? )["']?([^\s"']{8,128})/g,
  },
  {
    why: 'secret of a command',
    mark: /secret/,
    expression:
      /secrets? (?:set|create|put|add) [^\n|;]{1,80}?(?:--body|--value|-b|-v)[ =]["']?([^\s"']{8,256})/g,
  },
  {
    why: 'secret of a signature',
    mark: /jwt/i,
    expression: /jwt\.(?:sign|verify|encode|decode)\([^,()\n]{1,80},\s{0,4}["']([^"'\s]{16,256})["']/gi,
  },
  {
    why: 'value of a named header',
    mark: /for(?:HTTPHeaderField|Key)?:/,
    expression:
      /["']([^"'\s]{16,256})["'],\s{0,4}for(?:HTTPHeaderField|Key)?:\s{0,4}["'][\w-]{0,40}(?:key|token|secret|password|authorization)["']/gi,
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
  '(?:sshpass|redis-cli|mysql|mongo|ldap|htpasswd|docker|podman|helm)[a-z]{0,8} [^ ]',
  'secrets? (?:set|create|put|add) ',
  'jwt\\.(?:sign|verify|encode|decode)\\(',
  '["\'], ?for(?:httpheaderfield|key)?:',
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
