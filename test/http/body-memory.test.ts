import { expect, test } from 'vitest';
import { BodyMemory } from '../../src/http/body.ts';

const capacity = { bytes: 100, setBy: 'a test' };

test('a key alone may hold half of the capacity', () => {
  const memory = new BodyMemory();
  const held = memory.open('one', capacity);

  for (let i = 0; i < 50; i += 1) held.add(1);

  expect(() => held.add(1)).toThrow('memory that is free for request bodies');
});

test('a second key finds room while the first holds its share, and a third after them', () => {
  const memory = new BodyMemory();
  memory.open('one', capacity).add(50);
  const second = memory.open('two', capacity);
  second.add(25);

  expect(() => second.add(1)).toThrow('memory that is free');
  expect(() => memory.open('one', capacity).add(1)).toThrow('memory that is free');
  memory.open('three', capacity).add(12);
});

test('what was refused is not counted, and what was released can be used again', () => {
  const memory = new BodyMemory();
  const first = memory.open('one', capacity);
  first.add(40);
  expect(() => first.add(30)).toThrow();
  const second = memory.open('one', capacity);
  second.add(10);

  first.release();
  first.release();

  second.add(40);
  expect(() => second.add(1)).toThrow();
});
