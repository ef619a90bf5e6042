import { expect, test } from 'vitest';
import { createJsonProgress } from '../../../src/dialects/messages/block-queue.ts';

test.each([
  '{}',
  ' {"a":1} ',
  '{"a":{"b":[1,{"c":"}"}]}}',
  '{"quote":"\\"}"}',
  '{"backslash":"\\\\"}',
  '{"both":"\\\\\\"{"}',
])('%s is complete with its last brace and not before', (text) => {
  const progress = createJsonProgress();
  const last = text.lastIndexOf('}');

  for (let at = 0; at < text.length; at += 1) {
    expect(progress.isComplete()).toBe(at > last);
    progress.add(text.charAt(at));
  }
  expect(progress.isComplete()).toBe(true);
});
