import { type Bypass, block, blocked, codename, model, turns } from './case.ts';

const card = { status: 403, reason: 'content.credit_card' };
const spoken = ['messages', 'chat', 'responses'] as const;
type Spoken = (typeof spoken)[number];

const splits: readonly (readonly [string, (endpoint: Spoken) => unknown, Bypass['expect']])[] = [
  ['two blocks, in a word', (to) => said(to, ['the project night', 'fall is']), blocked],
  ['two blocks, between words', (to) => said(to, ['project', 'nightfall']), blocked],
  ['a block for each letter', (to) => said(to, [...codename]), blocked],
  ['an empty block between', (to) => said(to, ['project ', '', 'nightfall']), blocked],
  [
    'many empty blocks between',
    (to) => said(to, ['project ', ...Array<string>(200).fill(''), 'nightfall']),
    blocked,
  ],
  ['white space on both sides', (to) => said(to, ['project \n ', ' \t nightfall']), blocked],
  ['disguise on both sides', (to) => said(to, ['рrоject\u200b', '\u200bＮightfall']), blocked],
  ['a block of marks between', (to) => said(to, ['project night', '\u200b\u200c', 'fall']), blocked],
  [
    'two messages of one role',
    (to) => turns(to, turn('user', 'project'), turn('user', 'nightfall')),
    blocked,
  ],
  [
    'two messages, in a word',
    (to) => turns(to, turn('user', 'project night'), turn('user', 'fall')),
    blocked,
  ],
  [
    'messages of two roles',
    (to) => turns(to, turn('user', 'project night'), turn('assistant', 'fall')),
    blocked,
  ],
  [
    'a text and a block',
    (to) => turns(to, turn('user', 'project'), { role: 'user', content: [block(to, 'nightfall')] }),
    blocked,
  ],
  [
    'messages of a letter each',
    (to) => turns(to, ...[...codename].map((letter) => turn('user', letter))),
    blocked,
  ],
  [
    'labels between',
    (to) =>
      turns(to, { role: 'user', content: [{ ...block(to, 'project nig'), id: 'zzz' }, block(to, 'htfall')] }),
    blocked,
  ],
  [
    'junk between',
    (to) =>
      turns(to, {
        role: 'user',
        content: [
          { ...block(to, 'project nig'), junk: 'zzz' },
          { junk: 'y', ...block(to, 'htfall') },
        ],
      }),
    blocked,
  ],
  ['a card over two blocks', (to) => said(to, ['card 4111 1111', '1111 1111 ok']), card],
  ['a card in the middle of a group', (to) => said(to, ['41111111', '11111111']), card],
  [
    'a card over four messages',
    (to) => turns(to, ...['4111', '1111', '1111', '1111'].map((part) => turn('user', part))),
    card,
  ],
];

function said(to: Spoken, parts: readonly string[]): unknown {
  return turns(to, { role: 'user', content: parts.map((part) => block(to, part)) });
}

function turn(role: string, content: string): object {
  return { role, content };
}

/** A text cut in pieces that its reader puts together again. */
export const joinedTexts: readonly Bypass[] = [
  ...spoken.flatMap((endpoint) =>
    splits.map(
      ([how, body, expect]): Bypass => ({
        name: `${endpoint}: ${how}`,
        endpoint,
        body: body(endpoint),
        expect,
      }),
    ),
  ),
  {
    name: 'messages: system blocks',
    endpoint: 'messages',
    body: {
      model: model.messages,
      max_tokens: 9,
      messages: [],
      system: [block('messages', 'project'), block('messages', 'nightfall')],
    },
    expect: blocked,
  },
  {
    name: 'messages: the end of the system text and the first turn',
    endpoint: 'messages',
    body: { ...turns('messages', turn('user', 'nightfall')), system: 'about project' },
    expect: blocked,
  },
  {
    name: 'messages: a text and a tool result',
    endpoint: 'messages',
    body: turns('messages', {
      role: 'user',
      content: [
        block('messages', 'project'),
        { type: 'tool_result', tool_use_id: 'a', content: 'nightfall' },
      ],
    }),
    expect: blocked,
  },
  {
    name: 'messages: two document sources',
    endpoint: 'messages',
    body: turns('messages', {
      role: 'user',
      content: ['project night', 'fall'].map((data) => ({
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data },
      })),
    }),
    expect: blocked,
  },
  {
    name: 'responses: two outputs of functions',
    endpoint: 'responses',
    body: turns(
      'responses',
      ...['project night', 'fall'].map((output) => ({ type: 'function_call_output', call_id: 'a', output })),
    ),
    expect: blocked,
  },
  {
    name: 'responses: instructions and input',
    endpoint: 'responses',
    body: { model: model.responses, instructions: 'about project', input: 'nightfall' },
    expect: blocked,
  },
  {
    name: 'embeddings: two texts',
    endpoint: 'embeddings',
    body: { model: model.embeddings, input: ['project', 'nightfall'] },
    expect: blocked,
  },
  {
    name: 'embeddings: two texts, in a word',
    endpoint: 'embeddings',
    body: { model: model.embeddings, input: ['project night', 'fall'] },
    expect: blocked,
  },
];
