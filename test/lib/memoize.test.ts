import { expect, test } from 'vitest';
import { memoize } from '../../src/lib/memoize.ts';

/** A function that notes what it was asked. */
function asked(): { readonly names: string[]; readonly find: (name: string) => string } {
  const names: string[] = [];
  const find = memoize((name) => {
    names.push(name);
    return name.toUpperCase();
  });
  return { names, find };
}

test('a name that comes again is not looked into again', () => {
  const { names, find } = asked();

  expect([find('model'), find('role'), find('model')]).toEqual(['MODEL', 'ROLE', 'MODEL']);
  expect(names).toEqual(['model', 'role']);
});

test('what strangers make up takes a bounded place, and keeps out nothing that comes later', () => {
  const { names, find } = asked();
  const long = 'x'.repeat(65);
  expect([find(long), find(long)]).toEqual([long.toUpperCase(), long.toUpperCase()]);
  expect(names).toEqual([long, long]);

  for (let number = 0; number < 1_001; number += 1) find(`name ${number}`);
  names.length = 0;
  find('name 999');
  find('name 1000');

  expect(names).toEqual(['name 999']);
});
