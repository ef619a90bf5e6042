import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { items } from '../../../src/dialects/responses/responses.ts';
import { namesByKind } from '../../../src/policy/traverse/reading-order.ts';
import { textDialects } from '../../kit/dialects.ts';
import { allProviders, createTally } from '../../kit/forms.ts';
import { scale } from '../../kit/scale.ts';
import { policyOf } from '../deciding.ts';
import { type Form, forms, type Slot, slots, turnOf } from './slots.ts';

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

const tally = createTally('neighbours', {
  without: {
    'client embeddings': 'each of its texts is embedded by itself',
    'client gemini_array': 'its requests are those of gemini',
    ...Object.fromEntries(
      allProviders.map((name) => [`provider ${name}`, 'what is sent there is decided on in the same way']),
    ),
  },
});

type Layout = (form: Form, pair: readonly [one: Slot, other: Slot], cut: Cut) => readonly object[];

/** What stands around two neighbours. A text that goes on with digits must not hide a card that is whole before it. */
// biome-ignore format: a case a line
const inOneTurn: readonly (readonly [string, Layout])[] = [
  ['in one turn', ({ turn }, [one, other], [a, b]) => [turn('user', [one.make(a), other.make(b)])]],
  [
    'in one turn, before another',
    ({ turn }, [one, other], [a, b]) => [
      turn('assistant', 'I have 7'),
      turn('user', [one.make(a), other.make(b)]),
      turn('assistant', '2 more'),
    ],
  ],
  ['in one turn, with a picture between', ({ turn, picture }, [one, other], [a, b]) => [turn('user', [one.make(a), picture, other.make(b)])]],
  ['in one turn, with reasoning between that is left out', ({ turn, thinking }, [one, other], [a, b]) => [turn('user', [one.make(a), thinking, other.make(b)])]],
];
const inTwoTurns: readonly (readonly [string, Layout])[] = [
  ['in two turns', (form, [one, other], [a, b]) => [turnOf(form, one, a), turnOf(form, other, b)]],
  [
    'in two turns, before words',
    (form, [one, other], [a, b]) => [
      turnOf(form, one, a),
      turnOf(form, other, b),
      form.turn('assistant', 'all right, then'),
    ],
  ],
];

function layoutsOf([one, other]: readonly [Slot, Slot]): readonly (readonly [string, Layout])[] {
  if (one.isItem === true || other.isItem === true) return inTwoTurns;
  const isThought = one.name === 'thinking' || other.name === 'thinking';
  return [...(isThought ? inOneTurn.slice(0, -1) : inOneTurn), ...inTwoTurns];
}

describe.each(textDialects)('%s', (dialect) => {
  const form = forms[dialect];
  const pairs = slots[dialect]
    .flatMap((one) => slots[dialect].map((other) => [one, other] as const))
    .filter((_, i) => i % scale(37, 1) === 0);

  function run(cuts: readonly Cut[], expected: string) {
    let count = 0;
    const wrong: string[] = [];
    for (const pair of pairs) {
      for (const [layout, make] of layoutsOf(pair)) {
        for (const cut of cuts) {
          count += 1;
          const { action } = decide(form.body(make(form, pair, cut)), { endpoint: dialect });
          if (action === expected) continue;
          wrong.push(`${pair.map(({ name }) => name).join(', ')} ${layout}: ${cut.join('|')}`);
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
    expect(found.count).toBeGreaterThan(scale(75, 3_000));
    expect(passed.count).toBe(found.count);
    tally.add(dialect, undefined, found.count + passed.count);
  });

  test.each(forbidden)('the system text and the first turn: %s|%s', (a, b) => {
    for (const slot of slots[dialect]) {
      for (const system of form.systems(a)) {
        const body = {
          ...form.body([turnOf(form, slot, b), form.turn('assistant', 'yes')]),
          ...system,
        };
        expect([slot.name, decide(body, { endpoint: dialect }).action]).toEqual([slot.name, 'block']);
      }
    }
  });

  // Gemini has no turns of the system.
  test.skipIf(dialect === 'gemini')('the system prompt gathered from wherever it is', () => {
    const system = dialect === 'messages' ? 'system' : 'developer';
    const turns = [
      { role: system, content: 'about project' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
      { role: system, content: 'nightfall' },
    ];
    const apart = turns.map((turn, at) => (at === 3 ? { ...turn, role: 'user' } : turn));

    expect(decide(form.body(turns), { endpoint: dialect }).action).toBe('block');
    expect(decide(form.body(apart), { endpoint: dialect }).action).toBe('allow');
  });

  test('two turns around what hosts move or leave out', () => {
    const between = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'be kind' }] },
        form.turn('assistant', [form.thinking]),
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
      gemini: [form.turn('assistant', [form.thinking]), { role: 'function', parts: [{ text: 'ok' }] }],
    }[dialect];
    for (const middle of between) {
      for (const [a, b] of forbidden) {
        const turns = [form.turn('user', a), middle, form.turn('user', b)];
        expect(decide(form.body(turns), { endpoint: dialect }).action).toBe('block');
      }
    }
  });
});

/** Requests for one embedding in Gemini's form, with a text in two places that hosts join. */
const embedded: Readonly<Record<string, (cut: Cut) => object>> = {
  'two parts': ([a, b]) => ({ content: { parts: [{ text: a }, { text: b }] } }),
  'parts in two spellings': ([a, b]) => ({
    content: { parts: [{ text: a }, { inline_data: { mime_type: 'text/plain', data: base64Of(b) } }] },
  }),
  'title and content': ([a, b]) => ({ title: a, content: { parts: [{ text: b }] } }),
  'content before its title': ([a, b]) => ({ content: { parts: [{ text: b }] }, title: a }),
  'title in the settings': ([a, b]) => ({
    content: { parts: [{ text: b }] },
    embedContentConfig: { title: a, taskType: 'RETRIEVAL_DOCUMENT' },
  }),
  'title in the settings, in the other spelling': ([a, b]) => ({
    embed_content_config: { title: a },
    content: { parts: [{ text: b }] },
  }),
};
const base64Of = (text: string) => Buffer.from(text).toString('base64');

test.each(Object.entries(embedded))('gemini_embeddings: %s, alone and in a batch', (_, make) => {
  const other = { content: { parts: [{ text: 'something else' }] } };
  for (const [cuts, action] of [
    [forbidden, 'block'],
    [harmless, 'allow'],
  ] as const) {
    for (const cut of cuts) {
      for (const body of [make(cut), { requests: [make(cut)] }, { requests: [other, make(cut), other] }]) {
        const decision = decide(body, { endpoint: 'gemini_embeddings' });
        expect([cut, decision.action]).toEqual([cut, action]);
        tally.add('gemini_embeddings', undefined);
      }
    }
  }
});

test('a title belongs to its document in whatever order the two are written', () => {
  const { body, turn } = forms.messages;
  const data = { type: 'text', media_type: 'text/plain', data: 'nightfall' };
  const title = 'project';
  const blocks = [
    { type: 'document', title, source: data },
    { type: 'document', source: data, title },
    { source: data, context: title, type: 'document' },
    { source: { data: 'nightfall', type: 'text' }, type: 'document', title: 'of', context: title },
  ];

  for (const block of blocks) {
    expect(decide(body([turn('user', [block])])).action).toBe('block');
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
    fileData additional_tools tool_search_output mcp_list_tools item_reference compaction compaction_trigger
    configuration_update ephemeral program
  `.match(/\w+/g),
);

test('every type of a block or an item, and every name that is read as text, has been tried', () => {
  const tried = JSON.stringify(textDialects.map((dialect) => slots[dialect].map(({ make }) => make('x'))));
  const types = [...textDialects.flatMap((dialect) => [...dialects[dialect].blocks.keys()]), ...items.keys()];
  const members = textDialects.map((name): typeof namesByKind => (dialects[name] as Dialect).members ?? {});
  const names = (['prose', 'heading', 'wrapper', 'input', 'trailing', 'call'] as const).flatMap((kind) =>
    [namesByKind, ...members].flatMap((each) => each[kind] ?? []),
  );

  // Where a block has no type, the name of one of its members is in its place.
  const untried = types.filter(
    (type) => !tried.includes(`"type":"${type}"`) && !tried.includes(`"${type}":`) && !silent.has(type),
  );
  const unread = names.filter((name) => !tried.includes(`"${name}":`));

  expect(untried).toEqual([]);
  // The first two are fields of the request, the others are written like their neighbours in the table.
  expect(unread).toEqual(['system', 'instructions', 'prompt', 'query']);
});

test('every form has had cases', () => {
  expect(tally.wrong()).toEqual([]);
});
