import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { items } from '../../../src/dialects/responses/blocks.ts';
import { namesByKind } from '../../../src/policy/traverse/reading-order.ts';
import { scale } from '../../kit/scale.ts';
import { policyOf } from '../deciding.ts';
import { type Slot, type Spoken, slots } from './slots.ts';

// Every pair of places in which a text may stand, one after the other, with a forbidden text cut in two; and the same
// bodies with texts of the same shape that must pass.

const decide = policyOf(
  { id: 'codename', action: 'block', when: { text: { phrases: ['project nightfall'] } } },
  { id: 'cards', action: 'block', when: { text: { detect: ['credit_card'] } } },
);

type Cut = readonly [string, string];
const forbidden: readonly Cut[] = [
  ['the project night', 'fall it is'],
  ['of project', 'nightfall then'],
  ['card 4111 1111', '1111 1111 ok'],
  ['41111111', '11111111'],
];
const harmless: readonly Cut[] = [
  ['the project nigh', 'all it is'],
  ['of projects', 'nightfall then'],
  ['card 4111 1111', '1111 1112 ok'],
  ['41111111', '11111112'],
];

type Turn = unknown;
const role = (speaker: string, ...content: readonly object[]): Turn => ({ role: speaker, content });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };

/** What stands around two neighbours. A text that goes on with digits must not hide a card that is whole before it. */
// biome-ignore format: a case a line
const layouts: readonly (readonly [
  string,
  (one: Slot, other: Slot, cut: Cut) => readonly Turn[] | undefined,
])[] = [
  ['in one turn', (one, other, [a, b]) => one.isItem || other.isItem ? undefined : [role('user', one.make(a), other.make(b))]],
  [
    'in one turn, before another',
    (one, other, [a, b]) =>
      one.isItem || other.isItem
        ? undefined
        : [
            { role: 'assistant', content: 'I have 7' },
            role('user', one.make(a), other.make(b)),
            { role: 'assistant', content: '2 more' },
          ],
  ],
  ['in one turn, with a picture between', (one, other, [a, b]) => one.isItem || other.isItem ? undefined : [role('user', one.make(a), image, other.make(b))]],
  [
    'in one turn, with reasoning between that is left out',
    (one, other, [a, b]) =>
      one.isItem || other.isItem || one.name === 'thinking' || other.name === 'thinking'
        ? undefined
        : [
            role(
              'user',
              one.make(a),
              { type: 'thinking', thinking: 'let me see', signature: 's' },
              other.make(b),
            ),
          ],
  ],
  ['in two turns', (one, other, [a, b]) => [turnOf(one, a), turnOf(other, b)]],
  ['in two turns, before words', (one, other, [a, b]) => [turnOf(one, a), turnOf(other, b), { role: 'assistant', content: 'all right, then' }]],
];

function turnOf({ isItem, make }: Slot, text: string): Turn {
  return isItem === true ? make(text) : role('user', make(text));
}

function bodyOf(dialect: Spoken, turns: readonly Turn[]) {
  return { model: 'm', max_tokens: 9, [dialect === 'responses' ? 'input' : 'messages']: turns };
}

const spoken = Object.keys(slots) as Spoken[];

describe.each(spoken)('%s', (dialect) => {
  const pairs = slots[dialect]
    .flatMap((one) => slots[dialect].map((other) => [one, other] as const))
    .filter((_, i) => i % scale(23, 1) === 0);

  function run(cuts: readonly Cut[], expected: string) {
    let count = 0;
    const wrong: string[] = [];
    for (const [one, other] of pairs) {
      for (const [layout, make] of layouts) {
        for (const cut of cuts) {
          const turns = make(one, other, cut);
          if (turns === undefined) continue;
          count += 1;
          const { action } = decide(bodyOf(dialect, turns), { endpoint: dialect });
          if (action !== expected) wrong.push(`${one.name}, ${other.name} ${layout}: ${cut.join('|')}`);
        }
      }
    }
    return { count, wrong: wrong.slice(0, 20), left: wrong.length };
  }

  test('a text over two neighbours is found, and as many harmless ones pass', () => {
    const found = run(forbidden, 'block');
    const passed = run(harmless, 'allow');

    expect(found).toMatchObject({ wrong: [], left: 0 });
    expect(passed).toMatchObject({ wrong: [], left: 0 });
    expect(found.count).toBeGreaterThan(scale(120, 3_000));
    expect(passed.count).toBe(found.count);
  });

  test.each(forbidden)('the system text and the first turn: %s|%s', (a, b) => {
    const systems =
      dialect === 'messages'
        ? [{ system: a }, { system: [{ type: 'text', text: a }] }]
        : dialect === 'responses'
          ? [{ instructions: a }]
          : [];
    for (const slot of slots[dialect]) {
      for (const system of systems) {
        const body = {
          ...bodyOf(dialect, [turnOf(slot, b), { role: 'assistant', content: 'yes' }]),
          ...system,
        };
        expect([slot.name, decide(body, { endpoint: dialect }).action]).toEqual([slot.name, 'block']);
      }
    }
  });

  test('the system prompt gathered from wherever it is', () => {
    const system = dialect === 'messages' ? 'system' : 'developer';
    const turns = [
      { role: system, content: 'about project' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
      { role: system, content: 'nightfall' },
    ];
    const apart = turns.map((turn, at) => (at === 3 ? { ...turn, role: 'user' } : turn));

    expect(decide(bodyOf(dialect, turns), { endpoint: dialect }).action).toBe('block');
    expect(decide(bodyOf(dialect, apart), { endpoint: dialect }).action).toBe('allow');
  });

  test('two turns around what hosts move or leave out', () => {
    const between = {
      messages: [
        role('system', { type: 'text', text: 'be kind' }),
        role('assistant', { type: 'thinking', thinking: 'hm', signature: 's' }),
      ],
      chat: [
        { role: 'system', content: 'be kind' },
        { role: 'tool', content: 'ok' },
        { role: 'assistant', content: '', reasoning_content: 'hm' },
      ],
      responses: [
        { role: 'developer', content: 'be kind' },
        { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }] },
      ],
    }[dialect];
    for (const middle of between) {
      for (const [a, b] of forbidden) {
        const turns = [{ role: 'user', content: a }, middle, { role: 'user', content: b }];
        expect(decide(bodyOf(dialect, turns), { endpoint: dialect }).action).toBe('block');
      }
    }
  });
});

test('a title belongs to its document in whatever order the two are written', () => {
  const data = { type: 'text', media_type: 'text/plain', data: 'nightfall' };
  const title = 'project';
  const blocks = [
    { type: 'document', title, source: data },
    { type: 'document', source: data, title },
    { source: data, context: title, type: 'document' },
    { source: { data: 'nightfall', type: 'text' }, type: 'document', title: 'of', context: title },
  ];

  for (const block of blocks) {
    expect(decide(bodyOf('messages', [role('user', block)])).action).toBe('block');
  }
});

/** Types of blocks and items in which no text of their own stands. */
const silent = new Set(
  `
    image redacted_thinking tool_use mcp_tool_use container_upload fallback tool_reference browser_state
    tool_addition tool_removal mcp_tool_listing web_search_tool_result tool_search_tool_result
    web_search_result web_search_tool_result_error web_fetch_tool_result_error code_execution_output
    encrypted_code_execution_result code_execution_tool_result_error bash_code_execution_output
    bash_code_execution_tool_result_error text_editor_code_execution_create_result
    text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result_error
    tool_search_tool_search_result tool_search_tool_result_error advisor_redacted_result
    advisor_tool_result_error file char_location page_location content_block_location
    search_result_location web_search_result_location direct audio_url video_url url_citation file_citation
    container_file_citation file_path computer_screenshot search open_page find_in_page exec click
    double_click drag keypress move screenshot scroll type wait timeout create_file update_file delete_file
    input_audio url web_search_call computer_call image_generation_call local_shell_call shell_call
    apply_patch_call tool_search_call mcp_approval_request computer_call_output mcp_approval_response
    additional_tools tool_search_output mcp_list_tools item_reference compaction compaction_trigger
    configuration_update ephemeral program
  `.match(/\w+/g),
);

test('every type of a block or an item, and every name that is read as text, has been tried', () => {
  const tried = JSON.stringify(spoken.map((dialect) => slots[dialect].map(({ make }) => make('x'))));
  const types = [...spoken.flatMap((dialect) => [...dialects[dialect].blocks.keys()]), ...items.keys()];
  const names = (['prose', 'heading', 'wrapper', 'input', 'trailing', 'call'] as const).flatMap(
    (kind) => namesByKind[kind] ?? [],
  );

  const untried = types.filter((type) => !tried.includes(`"type":"${type}"`) && !silent.has(type));
  const unread = names.filter((name) => !tried.includes(`"${name}":`));

  expect(untried).toEqual([]);
  // The first two are fields of the request, the others are written like their neighbours in the table.
  expect(unread).toEqual(['system', 'instructions', 'prompt', 'query']);
});
