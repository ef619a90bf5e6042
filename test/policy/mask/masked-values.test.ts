import { expect, test } from 'vitest';
import {
  collectValues,
  countKinds,
  findValue,
  joinValues,
  kindOfRest,
  type MaskedValues,
  pairsOf,
} from '../../../src/policy/mask/masked-values.ts';

const first = new Map([
  ['EMAIL_ZZZZZZZZZZZZZ', 'zoe@example.org'],
  ['EMAIL_BBBBBBBBBBBBB', 'bo "b"'],
]);
const second = new Map([
  ['NAME_DDDDDDDDDDDDD', 'ask EMAIL_BBBBBBBBBBBBB'],
  ['EMAIL_ZZZZZZZZZZZZZ', 'zoe@example.org'],
]);

test('each placeholder has its value, in the order in which they were masked, in another thread too', () => {
  const masked = structuredClone(collectValues(first));

  expect([...pairsOf(masked)]).toEqual([...first]);
  expect(findValue(masked, 'EMAIL_BBBBBBBBBBBBB')).toBe('bo "b"');
  expect(['EMAIL_', 'EMAIL_BBBBBBBBBBBBC', 'A', 'Z', ''].map((text) => findValue(masked, text))).toEqual(
    Array(5).fill(undefined),
  );
});

test('two passes together have all values, and those of the first within those of the second', () => {
  const both = joinValues(collectValues(first), collectValues(second)) as MaskedValues;

  expect([...pairsOf(both)]).toEqual([...first, ['NAME_DDDDDDDDDDDDD', 'ask bo "b"']]);
  expect([both.size, countKinds(both)]).toEqual([3, { EMAIL: 2, NAME: 1 }]);
  expect(findValue(both, 'EMAIL_ZZZZZZZZZZZZZ')).toBe('zoe@example.org');
  expect(findValue(both, 'NAME_DDDDDDDDDDDDD')).toBe('ask bo "b"');
});

test('one placeholder of two values is a clash', () => {
  const other = collectValues(new Map([['EMAIL_ZZZZZZZZZZZZZ', 'zack@example.org']]));

  expect(joinValues(collectValues(first), other)).toBeUndefined();
});

test('what is left of a placeholder is of its kind', () => {
  const both = joinValues(collectValues(first), collectValues(second)) as MaskedValues;

  expect(
    ['email-zzzzzz', 'EMAIL_ZZZZZZZZ', 'Name dddddd', 'EMAIL_ZZZZZ', 'EMAIL_ZZZZZB'].map(restIn(both)),
  ).toEqual(['EMAIL', 'EMAIL', 'NAME', undefined, undefined]);
});

function restIn(masked: MaskedValues): (text: string) => string | undefined {
  return (text) => kindOfRest(masked, text);
}

test('a hundred thousand values are sent to another thread as few objects', () => {
  const values = new Map(
    Array.from({ length: 100_000 }, (_, at) => [`EMAIL_${at}`.padEnd(19, 'B'), `u${at}`]),
  );

  const objects: unknown[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    objects.push(value);
    if (!ArrayBuffer.isView(value)) Object.values(value).forEach(visit);
  };
  visit(collectValues(values));

  expect(objects.length).toBeLessThan(10);
});
