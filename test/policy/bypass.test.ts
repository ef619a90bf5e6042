import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../src/dialects/registry.ts';
import { policyOf, saying } from './deciding.ts';

const decide = policyOf(
  {
    id: 'codename',
    action: 'block',
    when: { text: { phrases: ['project nightfall'] } },
    reason: 'content.codename',
  },
  {
    id: 'cards',
    action: 'block',
    when: { text: { detect: ['credit_card'] } },
    reason: 'content.credit_card',
  },
  { id: 'ticket', action: 'block', when: { text: { regex: ['^top secret$'] } }, reason: 'content.ticket' },
);
const name = 'project nightfall';
const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');
const turn = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const escaped = [...name].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** Bodies that say the forbidden name in a way that a scanner of known fields would miss. */
const hidden: readonly (readonly [string, DialectName, unknown])[] = [
  ['plain', 'messages', saying(name)],
  ['a list of blocks', 'messages', saying([{ type: 'text', text: name }])],
  ['system text', 'messages', { system: name, messages: [] }],
  ['system blocks', 'messages', { system: [{ type: 'text', text: name }], messages: [] }],
  ['a system turn', 'messages', { messages: [{ role: 'system', content: name }] }],
  ['an assistant prefill', 'messages', { messages: [{ role: 'assistant', content: name }] }],
  ['a tool description', 'messages', { messages: [], tools: [{ name: 't', description: name }] }],
  [
    'a schema description',
    'messages',
    { messages: [], tools: [{ name: 't', input_schema: { properties: { a: { description: name } } } }] },
  ],
  [
    'a schema enum',
    'messages',
    { messages: [], tools: [{ name: 't', input_schema: { properties: { a: { enum: [name] } } } }] },
  ],
  [
    'a schema property name',
    'messages',
    { messages: [], tools: [{ name: 't', input_schema: { properties: { [name]: {} } } }] },
  ],
  ['a tool result', 'messages', turn([{ type: 'tool_result', tool_use_id: 'a', content: name }])],
  [
    'blocks of a tool result',
    'messages',
    turn([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: name }] }]),
  ],
  [
    'a tool input',
    'messages',
    {
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'a', name: 't', input: { deep: [{ er: name }] } }],
        },
      ],
    },
  ],
  [
    'a key of a tool input',
    'messages',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: { [name]: 1 } }] },
      ],
    },
  ],
  [
    'thinking',
    'messages',
    { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: name, signature: 's' }] }] },
  ],
  [
    'a document title',
    'messages',
    turn([{ type: 'document', title: name, source: { type: 'text', media_type: 'text/plain', data: 'x' } }]),
  ],
  [
    'a document context',
    'messages',
    turn([
      { type: 'document', context: name, source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    ]),
  ],
  [
    'a plain text source',
    'messages',
    turn([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: name } }]),
  ],
  [
    'a base64 text source',
    'messages',
    turn([{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: base64(name) } }]),
  ],
  [
    'a base64 markdown source',
    'messages',
    turn([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'Text/Markdown; charset=utf-8', data: base64(name) },
      },
    ]),
  ],
  [
    'base64 of UTF-16',
    'messages',
    turn([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'text/plain', data: base64(`\ufeff${name} é`, 'utf16le') },
      },
    ]),
  ],
  [
    'base64 JSON with escapes',
    'messages',
    turn([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/json', data: base64(`{"a":"${escaped}"}`) },
      },
    ]),
  ],
  [
    'base64 with line breaks',
    'messages',
    turn([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'text/plain', data: base64(name).replace(/(.{5})/g, '$1\n') },
      },
    ]),
  ],
  [
    'a source of content blocks',
    'messages',
    turn([{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: name }] } }]),
  ],
  [
    'a search result',
    'messages',
    turn([{ type: 'search_result', source: 'x', title: 't', content: [{ type: 'text', text: name }] }]),
  ],
  ['an unknown block', 'messages', turn([{ type: 'hologram', payload: { inner: [[name]] } }])],
  ['an unknown field', 'messages', { messages: [], hologram: name }],
  ['metadata', 'messages', { messages: [], metadata: { user_id: name } }],
  ['a stop sequence', 'messages', { messages: [], stop_sequences: [name] }],
  ['a key', 'messages', { messages: [], [name]: null }],
  ['a second field beside text', 'messages', turn([{ type: 'text', text: 'hello', annotation: name }])],
  ['the chat content', 'chat', turn(name)],
  ['chat parts', 'chat', turn([{ type: 'text', text: name }])],
  ['a developer message', 'chat', { messages: [{ role: 'developer', content: name }] }],
  ['a participant name', 'chat', { messages: [{ role: 'user', name, content: 'hi' }] }],
  ['a refusal', 'chat', { messages: [{ role: 'assistant', refusal: name }] }],
  ['reasoning_content', 'chat', { messages: [{ role: 'assistant', reasoning_content: name }] }],
  [
    'tool arguments',
    'chat',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: JSON.stringify({ q: name }) } },
          ],
        },
      ],
    },
  ],
  [
    'tool arguments with escapes',
    'chat',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: `{"q":"${escaped}"}` } },
          ],
        },
      ],
    },
  ],
  [
    'keys of tool arguments',
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: `{"${escaped}":1}` } }] }] },
  ],
  [
    'arguments that are JSON in JSON',
    'chat',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            {
              function: {
                arguments: JSON.stringify({ q: JSON.stringify({ r: `x${name}` }).replace('p', '\\u0070') }),
              },
            },
          ],
        },
      ],
    },
  ],
  [
    'arguments with a key twice',
    'chat',
    {
      messages: [
        { role: 'assistant', tool_calls: [{ function: { arguments: `{"q":"${escaped}","q":""}` } }] },
      ],
    },
  ],
  [
    'arguments that are cut off',
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: `{"q":"${escaped}` } }] }] },
  ],
  [
    'arguments that are two values',
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: `"a","b":"${escaped}"` } }] }] },
  ],
  [
    'an array in place of arguments',
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: `["${escaped}"]` } }] }] },
  ],
  [
    'the old function call',
    'chat',
    { messages: [{ role: 'assistant', function_call: { name: 'f', arguments: name } }] },
  ],
  ['a function description', 'chat', { messages: [], functions: [{ name: 'f', description: name }] }],
  ['a prediction', 'chat', { messages: [], prediction: { type: 'content', content: name } }],
  [
    'a prediction in parts',
    'chat',
    {
      messages: [],
      prediction: {
        type: 'content',
        content: ['project ', 'nightfall'].map((text) => ({ type: 'text', text })),
      },
    },
  ],
  [
    'the schema of an answer',
    'chat',
    {
      messages: [],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { title: name } } },
    },
  ],
  [
    'a text data URL',
    'chat',
    turn([{ type: 'file', file: { filename: 'a', file_data: `data:text/plain;base64,${base64(name)}` } }]),
  ],
  [
    'a percent-encoded data URL',
    'chat',
    turn([
      {
        type: 'image_url',
        image_url: { url: `data:text/plain,${encodeURIComponent(name).replace('p', '%70')}` },
      },
    ]),
  ],
  [
    'a data URL without a type',
    'chat',
    turn([{ type: 'image_url', image_url: { url: `data:;base64,${base64(name)}` } }]),
  ],
  [
    'an upper-case data URL',
    'chat',
    turn([{ type: 'image_url', image_url: { url: `DATA:Text/HTML;BASE64,${base64(name)}` } }]),
  ],
  [
    'an SVG data URL',
    'chat',
    turn([
      {
        type: 'image_url',
        image_url: { url: `data:image/svg+xml;base64,${base64(`<text>${name}</text>`)}` },
      },
    ]),
  ],
  ['the responses input', 'responses', { input: name }],
  ['instructions', 'responses', { input: 'hi', instructions: name }],
  ['input_text', 'responses', { input: [{ role: 'user', content: [{ type: 'input_text', text: name }] }] }],
  [
    'output_text',
    'responses',
    {
      input: [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: name, annotations: [] }],
        },
      ],
    },
  ],
  [
    'a function call',
    'responses',
    { input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: `{"a":"${escaped}"}` }] },
  ],
  [
    'a function output',
    'responses',
    { input: [{ type: 'function_call_output', call_id: 'a', output: name }] },
  ],
  [
    'a function output of parts',
    'responses',
    { input: [{ type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: name }] }] },
  ],
  [
    'a custom call',
    'responses',
    { input: [{ type: 'custom_tool_call', call_id: 'a', name: 'f', input: name }] },
  ],
  [
    'a reasoning summary',
    'responses',
    { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: name }] }] },
  ],
  ['variables of a prompt', 'responses', { prompt: { id: 'p', variables: { a: name } } }],
  [
    'a grammar',
    'responses',
    { input: 'hi', tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', definition: name } }] },
  ],
  ['an embeddings text', 'embeddings', { input: name }],
  ['one of many embeddings texts', 'embeddings', { input: ['a', name] }],
];

describe('the forbidden name is found', () => {
  test.each(hidden)('in %s (%s)', (_where, endpoint, body) => {
    expect(decide(body, { endpoint }).refusal?.reason).toBe('content.codename');
  });

  test.each([
    ['capitals', 'PROJECT NIGHTFALL'],
    ['white space', 'project \r\n\t\u00a0\u3000 nightfall'],
    ['full width', 'ｐｒｏｊｅｃｔ ｎｉｇｈｔｆａｌｌ'],
    ['mathematical script', '𝓹𝓻𝓸𝓳𝓮𝓬𝓽 𝓷𝓲𝓰𝓱𝓽𝓯𝓪𝓵𝓵'],
    ['circled letters', 'ⓟⓡⓞⓙⓔⓒⓣ ⓝⓘⓖⓗⓣⓕⓐⓛⓛ'],
    ['regional indicators', '🇵🇷🇴🇯🇪🇨🇹 🇳🇮🇬🇭🇹🇫🇦🇱🇱'],
    ['Cyrillic letters', 'рrоjесt nіghtfаll'],
    ['Greek letters', 'ρrοject nιghtfαll'],
    ['small capitals', 'ᴘʀᴏᴊᴇᴄᴛ ɴɪɢʜᴛꜰᴀʟʟ'],
    ['marks', 'p\u0336r\u0336o\u0336j\u0336e\u0336c\u0336t n\u0301ightfall'],
    ['zero width spaces', 'p\u200bro\u200cje\u200dct night\u2060fall'],
    ['soft hyphens', 'pro\u00adject night\u00adfall'],
    ['direction marks', 'pro\u202eject\u202c night\u2066fall'],
    ['tag characters', 'pro\u{e0061}ject night\u{e007f}fall'],
    ['variation selectors', 'p\ufe0fro\u{e0100}ject nightfall'],
    ['control characters', 'pro\u0000ject night\u0008fall'],
    ['interlinear marks', 'pro\ufff9ject nightfall'],
    ['a combining grapheme joiner', 'pro\u034fject nightfall'],
    ['fillers', 'pro\u3164ject \uffa0nightfall'],
    ['a byte order mark inside', 'pro\ufeffject nightfall'],
    ['an unpaired surrogate', 'pro\ud800ject nightfall'],
    ['a Braille blank', 'project\u2800nightfall'],
    ['superscripts', 'ᵖʳᵒʲᵉᶜᵗ ⁿⁱᵍʰᵗᶠᵃˡˡ'],
    ['ligatures', 'project nightfaﬆ'.replace('ﬆ', 'll')],
    ['the middle of a word', 'unproject nightfalls'],
  ])('through %s', (_how, text) => {
    expect(decide(saying(text)).refusal?.reason).toBe('content.codename');
  });

  test.each([
    ['as escapes in the bytes', `{"messages":[{"role":"user","content":"${escaped}"}]}`],
    [
      'as escapes of letters of another plane',
      '{"messages":[{"role":"user","content":"\\ud835\\udcc5roject nightfall"}]}',
    ],
    ['in an escaped key', `{"messages":[],"${escaped}":1}`],
    ['with escaped white space', '{"messages":[{"role":"user","content":"project\\n\\tnightfall"}]}'],
  ])('%s', (_how, body) => {
    expect(decide(body).refusal?.reason).toBe('content.codename');
  });

  test.each([
    [
      'two blocks',
      turn([
        { type: 'text', text: 'the project night' },
        { type: 'text', text: 'fall is' },
      ]),
    ],
    [
      'two blocks, one of which ends the word',
      turn([
        { type: 'text', text: 'project' },
        { type: 'text', text: 'nightfall' },
      ]),
    ],
    ['a block for each letter', turn([...name].map((text) => ({ type: 'text', text })))],
    [
      'blocks with nothing between',
      turn([
        { type: 'text', text: 'project ' },
        { type: 'text', text: '' },
        { type: 'text', text: 'nightfall' },
      ]),
    ],
    [
      'blocks that are labelled',
      turn([
        { type: 'text', text: 'project nig', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'htfall' },
      ]),
    ],
    [
      'blocks with junk between',
      turn([
        { type: 'text', text: 'project nig', junk: 'zzz' },
        { type: 'text', junk: 'yyy', text: 'htfall' },
      ]),
    ],
    [
      'two messages',
      {
        messages: [
          { role: 'user', content: 'project' },
          { role: 'user', content: 'nightfall' },
        ],
      },
    ],
    [
      'messages of two roles',
      {
        messages: [
          { role: 'user', content: 'project night' },
          { role: 'assistant', content: 'fall' },
        ],
      },
    ],
    [
      'a text and a block',
      {
        messages: [
          { role: 'user', content: 'project' },
          { role: 'user', content: [{ type: 'text', text: 'nightfall' }] },
        ],
      },
    ],
    [
      'a block and a tool result',
      turn([
        { type: 'text', text: 'project' },
        { type: 'tool_result', content: 'nightfall' },
      ]),
    ],
    [
      'system blocks',
      {
        system: [
          { type: 'text', text: 'project' },
          { type: 'text', text: 'nightfall' },
        ],
        messages: [],
      },
    ],
    [
      'disguise on both sides',
      turn([
        { type: 'text', text: 'рrоject\u200b' },
        { type: 'text', text: '\u200bＮightfall' },
      ]),
    ],
  ])('split over %s', (_how, body) => {
    expect(decide(body).refusal?.reason).toBe('content.codename');
  });

  test('split over two texts of an embedding request', () => {
    expect(decide({ input: ['project', 'nightfall'] }, { endpoint: 'embeddings' }).action).toBe('block');
  });
});

describe('a number is found', () => {
  const card = '4111 1111 1111 1111';
  test.each([
    ['as text', saying(`my card is ${card}`)],
    ['as a JSON number', { messages: [], card: 4111111111111111 }],
    ['as a JSON number with an exponent', '{"messages":[],"card":4.111111111111111e15}'],
    ['as a JSON number with a fraction', '{"messages":[],"card":4111111111111111.0}'],
    ['as a key', { messages: [], '4111111111111111': 1 }],
    ['in full width digits', saying('４１１１ １１１１ １１１１ １１１１')],
    ['in Arabic digits', saying('٤١١١ ١١١١ ١١١١ ١١١١')],
    ['with zero width spaces', saying('4111\u200b111111\u200b111111')],
    ['with many spaces', saying(`4111 ${' '.repeat(400)}1111 1111 1111`)],
    ['as escapes', '{"messages":[{"role":"user","content":"\\u0034111 1111 1111 1\\u0031\\u00311"}]}'],
    [
      'in tool arguments',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ function: { arguments: '{"n":4111111111111111}' } }] },
        ],
      },
    ],
    [
      'split over two blocks',
      turn([
        { type: 'text', text: 'card 4111 1111' },
        { type: 'text', text: '1111 1111 ok' },
      ]),
    ],
    [
      'split in the middle of a group',
      turn([
        { type: 'text', text: '41111111' },
        { type: 'text', text: '11111111' },
      ]),
    ],
    [
      'split over four messages',
      { messages: ['4111', '1111', '1111', '1111'].map((content) => ({ role: 'user', content })) },
    ],
  ])('%s', (_how, body) => {
    expect(decide(body).refusal?.reason).toBe('content.credit_card');
  });
});

describe('patterns', () => {
  test('see the single strings of JSON inside a string', () => {
    const body = {
      messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{"q":"top secret"}' } }] }],
    };

    expect(decide(body, { endpoint: 'chat' }).refusal?.reason).toBe('content.ticket');
  });

  test('with anchors match a whole text only', () => {
    expect(decide(saying('top secret')).action).toBe('block');
    expect(decide(saying('a top secret')).action).toBe('allow');
  });
});

describe('harmless requests pass', () => {
  test.each([
    ['the words apart', saying('the project ended; nightfall came')],
    ['the words in the wrong order', saying('nightfall project')],
    ['letters that are not enough', saying('project nightfal')],
    [
      'blocks that do not belong together',
      turn([
        { type: 'text', text: 'project' },
        { type: 'text', text: 'or nightfall' },
      ]),
    ],
    ['a long number that is no card', saying('4111 1111 1111 1112')],
    ['a timestamp', saying('2024-01-01T12:34:56.789Z 1704112496789')],
    ['code', saying('if (x[0] === "\\u0070") { return [1, 2, 3].map((n) => n * 0x7fffffff); }')],
    ['Japanese', saying('プロジェクトは夜に終わりました。')],
    ['emoji', saying('👩‍👩‍👧‍👦 🏳️‍🌈 done ✅')],
  ])('%s', (_name, body) => {
    expect(decide(body)).toMatchObject({ action: 'allow', verdicts: [] });
  });
});
