import { expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import type { Context, Visitor } from '../../../src/policy/traverse/reading-order.ts';
import { createWalk, type Walk } from '../../../src/policy/traverse/walk.ts';

test('contexts are kept for the next request', () => {
  const walk = createWalk();
  const context = firstContext(walk, { text: 'hi' });
  expect(firstContext(walk, { text: 'hi', invented: 'x' })).toBe(context);
  expect(firstContext(walk, { text: 'hi' })).toBe(context);
});

test('a member with a name as long as a body stays in no memory', () => {
  const walk = createWalk();
  const context = firstContext(walk, { text: 'hi', ['x'.repeat(100_000)]: 'x' });
  expect(firstContext(walk, { text: 'hi' })).not.toBe(context);
});

test('nor do any number of names', () => {
  const walk = createWalk();
  const invented = Array.from({ length: 2_000 }, (_, i) => [`n${i}`, 'x'] as const);
  const context = firstContext(walk, { text: 'hi', ...Object.fromEntries(invented) });
  expect(firstContext(walk, { text: 'hi' })).not.toBe(context);
});

/** The context of the request's first key; that of every request, as long as what was made from it is kept. */
function firstContext(walk: Walk, block: object): Context {
  const contexts: Context[] = [];
  const ignore = () => undefined;
  const visitor: Visitor = {
    text: (_document, _entry, context) => contexts.push(context),
    ...{ unseen: ignore, unreadable: ignore, block: ignore, turn: ignore, part: ignore },
  };
  const content = [{ type: 'text', ...block }];
  const body = { messages: [{ role: 'user', content }] };
  walk.request(parseStrictJson(Buffer.from(JSON.stringify(body))), dialects.messages, visitor);
  const [first] = contexts;
  if (first === undefined) throw new Error('the request has no texts');
  return first;
}
