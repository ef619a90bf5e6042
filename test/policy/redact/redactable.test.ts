import { expect, test } from 'vitest';
import { kinds } from '../../../src/json/json-document.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { createRedactable } from '../../../src/policy/redact/redactable.ts';

/** The texts of a body that may be changed, and how often the way from one entry to the next was asked for. */
function redactableTexts(body: unknown) {
  const document = parseStrictJson(Buffer.from(JSON.stringify(body)));
  const next = document.next.bind(document);
  let steps = 0;
  document.next = (entry) => {
    steps += 1;
    return next(entry);
  };
  const isRedactable = createRedactable(document);
  const texts: string[] = [];
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) !== kinds.string || !isRedactable({ document, entry })) continue;
    texts.push(document.text(entry));
  }
  return { texts, steps };
}

test('texts may change, but not keys, names, ids, definitions and what is signed', () => {
  const { texts } = redactableTexts({
    model: 'm',
    system: [{ type: 'text', text: 'system' }, 'in a list'],
    tools: [{ name: 'n', description: 'described', input_schema: { description: 'too', title: 'no' } }],
    messages: [
      { role: 'user', content: 'said' },
      { content: [{ type: 'thinking', thinking: 'no', more: { text: 'no' } }, 'behind it'] },
      { signature: 's', content: [['no']] },
      { call_id: 'no', arguments: 'called' },
    ],
    metadata: { text: 'top', name: 'no', deep: [[{ a: 'deep' }]] },
    sources: [
      { type: 'text', data: 'document' },
      { type: 'base64', data: 'no' },
      { type: 'text', data: ['no'] },
    ],
  });

  expect(texts).toEqual([
    'system',
    'in a list',
    'described',
    'too',
    'said',
    'behind it',
    'called',
    'top',
    'deep',
    'document',
  ]);
});

test.each<[string, (texts: readonly string[]) => unknown]>([
  ['list', (texts) => [...texts.map(() => ''), ...texts]],
  ['object', (texts) => Object.fromEntries(texts.map((text) => [text, text]))],
  ['list of lists', (texts) => texts.map((text) => [text])],
])('the way to each of many texts of one %s is not gone again', (_name, containerOf) => {
  const texts = Array.from({ length: 1_000 }, (_, at) => `text ${at}`);

  const { texts: redactable, steps } = redactableTexts({ messages: containerOf(texts) });

  expect(redactable.filter((text) => text !== '')).toEqual(texts);
  expect(steps).toBeLessThan(texts.length * 20);
});
