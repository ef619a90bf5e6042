import { type Bypass, block, blocked, codename, model, turns } from './case.ts';

const card = { status: 403, reason: 'content.credit_card' };
const spoken = ['messages', 'chat', 'responses'] as const;
type Spoken = (typeof spoken)[number];

const said = (to: Spoken, ...parts: readonly string[]) =>
  turns(to, { role: 'user', content: parts.map((part) => block(to, part)) });
const turn = (role: string, content: string) => ({ role, content });
const users = (to: Spoken, ...texts: readonly string[]) =>
  turns(to, ...texts.map((text) => turn('user', text)));
const labelled = (to: Spoken, one: object, other: object) =>
  turns(to, {
    role: 'user',
    content: [
      { ...block(to, 'project nig'), ...one },
      { ...other, ...block(to, 'htfall') },
    ],
  });

// Each pair of places is tried in policy/traverse/neighbours.
// biome-ignore format: a case a line
const splits: readonly (readonly [string, (to: Spoken) => unknown, Bypass['expect']])[] = [
  ['two blocks, in a word', (to) => said(to, 'the project night', 'fall is'), blocked],
  ['a block for each letter', (to) => said(to, ...codename), blocked],
  ['many empty blocks between', (to) => said(to, 'project ', ...Array<string>(200).fill(''), 'nightfall'), blocked],
  ['white space on both sides', (to) => said(to, 'project \n ', ' \t nightfall'), blocked],
  ['disguise on both sides', (to) => said(to, 'рrоject\u200b', '\u200bＮightfall'), blocked],
  ['a block of marks between', (to) => said(to, 'project night', '\u200b\u200c', 'fall'), blocked],
  ['messages of two roles', (to) => turns(to, turn('user', 'project night'), turn('assistant', 'fall')), blocked],
  ['messages of a letter each', (to) => users(to, ...codename), blocked],
  ['labels between', (to) => labelled(to, { id: 'zzz' }, {}), blocked],
  ['junk between', (to) => labelled(to, { junk: 'zzz' }, { junk: 'y' }), blocked],
  ['a card over four messages', (to) => users(to, '4111', '1111', '1111', '1111'), card],
];
const embedding = (...input: readonly string[]) => ({ model: model.embeddings, input });

/** A text cut in pieces that its reader puts together again. */
export const joinedTexts: readonly Bypass[] = [
  ...spoken.flatMap((endpoint) =>
    splits.map(([how, body, expect]): Bypass => {
      return { name: `${endpoint}: ${how}`, endpoint, body: body(endpoint), expect };
    }),
  ),
  ...[embedding('project', 'nightfall'), embedding('project night', 'fall')].map((body): Bypass => {
    return { name: `embeddings: ${body.input.join('|')}`, endpoint: 'embeddings', body, expect: blocked };
  }),
];
