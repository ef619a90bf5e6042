import { isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { privateKey } from './private-key.ts';

/** What may stand between a value and the first word that makes it a secret, or the last; in a cookie 200 characters. */
const context = 320;
/** `insert into table (columns) values (values)` */
const ofStatement = 1400;
/** Lines of armour and of wrapped tokens, and pieces of long keys: names in program code seldom are as long. */
const minLineLength = 28;
const lineCharacters = toCharacterSet(isKeyCharacter, '+/=.');

/**
 * Characters on each side of the place where two texts meet that decide whether a secret goes over it: the value, and
 * what is around it. Only private keys, long tokens, settings in quotation marks and statements are longer, and each of
 * them shows near that place.
 */
export function reachAcross(before: string, after: string): number {
  const value = Math.max(lastWordLength(before), firstWordLength(after));
  if (value > context) return privateKey.reach;
  const [tail, head] = [before.slice(-context - value), after.slice(0, context + value)];
  if (hasLongLine(tail) || hasLongLine(head)) return privateKey.reach;
  if (opensSetting(before, '"') || opensSetting(before, "'")) return privateKey.reach;
  return /into |values\s{0,8}\(/i.test(tail) ? ofStatement : context + value;
}

/** Both stop one character behind what decides. */
function lastWordLength(text: string): number {
  let length = 0;
  while (length <= context && length < text.length && text.charCodeAt(text.length - 1 - length) > 32)
    length += 1;
  return length;
}

function firstWordLength(text: string): number {
  let length = 0;
  while (length <= context && length < text.length && text.charCodeAt(length) > 32) length += 1;
  return length;
}

function hasLongLine(text: string): boolean {
  return findLongRuns(text, minLineLength, lineCharacters).length > 0 || text.includes('----');
}

/** Whether the last quotation mark of a kind follows an equals sign, or may be within a value. */
function opensSetting(text: string, quote: string): boolean {
  const at = text.lastIndexOf(quote);
  if (at < 1 || text.length - at > privateKey.reach) return false;
  return '=\\'.includes(text.charAt(text.charCodeAt(at - 1) === 32 ? at - 2 : at - 1));
}
