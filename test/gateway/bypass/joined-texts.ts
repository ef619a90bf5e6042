import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { textDialects } from '../../kit/dialects.ts';
import { type Bypass, block, blocked, codename, model, turn, turns } from './case.ts';

const card = { status: 403, reason: 'content.credit_card' };

type Text = TextDialectName;
const blocks = (to: Text, ...all: readonly object[]) => turns(to, turn(to, 'user', all));
const said = (to: Text, ...parts: readonly string[]) => blocks(to, ...parts.map((part) => block(to, part)));
const users = (to: Text, ...texts: readonly string[]) =>
  turns(to, ...texts.map((text) => turn(to, 'user', text)));
const labelled = (to: Text, one: object, other: object) =>
  blocks(to, { ...block(to, 'project nig'), ...one }, { ...other, ...block(to, 'htfall') });

// Each pair of places is tried in policy/traverse/neighbours.
// biome-ignore format: a case a line
const splits: readonly (readonly [string, (to: Text) => unknown, Bypass['expect']])[] = [
  ['two blocks, in a word', (to) => said(to, 'the project night', 'fall is'), blocked],
  ['a block for each letter', (to) => said(to, ...codename), blocked],
  ['many empty blocks between', (to) => said(to, 'project ', ...Array<string>(200).fill(''), 'nightfall'), blocked],
  ['disguise on both sides', (to) => said(to, 'рrоject\u200b', '\u200bＮightfall'), blocked],
  ['a block of marks between', (to) => said(to, 'project night', '\u200b\u200c', 'fall'), blocked],
  ['messages of two roles', (to) => turns(to, turn(to, 'user', 'project night'), turn(to, 'assistant', 'fall')), blocked],
  ['messages of a letter each', (to) => users(to, ...codename), blocked],
  ['labels between', (to) => labelled(to, { id: 'zzz' }, { junk: 'y' }), blocked],
  ['a card over four messages', (to) => users(to, '4111', '1111', '1111', '1111'), card],
];
const pieces = [
  ['project', 'nightfall'],
  ['project night', 'fall'],
];

/** A text cut in pieces that its reader puts together again. */
export const joinedTexts: readonly Bypass[] = [
  ...textDialects.flatMap((endpoint) =>
    splits.map(([how, body, expect]): Bypass => {
      return { name: `${endpoint}: ${how}`, endpoint, body: body(endpoint), expect };
    }),
  ),
  ...pieces.flatMap((input): readonly Bypass[] => {
    const requests = input.map((text) => ({ content: { parts: [{ text }] } }));
    const parts = input.map((text) => ({ text }));
    const name = input.join('|');
    // biome-ignore format: a case a line
    return [
      { name: `embeddings: ${name}`, endpoint: 'embeddings', body: { model: model.embeddings, input }, expect: blocked },
      { name: `gemini_embeddings: ${name}`, endpoint: 'gemini_embeddings', body: { requests }, expect: blocked },
      { name: `gemini_embeddings: parts ${name}`, endpoint: 'gemini_embeddings', body: { requests: [{ content: { parts } }] }, expect: blocked },
    ];
  }),
];
