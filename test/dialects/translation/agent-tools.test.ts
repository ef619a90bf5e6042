import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import { startTranslation } from './run-translation.ts';

// What coding agents send besides messages and functions.

type Sent = {
  messages: { role: string; content: unknown; tool_calls?: object[] }[];
  tools?: { function: { name: string } }[];
};

function sent(client: TextDialectName, body: object, changes: Partial<TranslationContext> = {}): Sent {
  return startTranslation(client, 'chat', undefined, changes).request({ model: 'm', max_tokens: 99, ...body })
    .body as Sent;
}

const tool = (name: string, members: object = {}) => ({
  name,
  input_schema: { type: 'object', properties: {} },
  ...members,
});
const use = (id: string, name: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
});
const result = (id: string, content: unknown) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
});
const ask = { role: 'user', content: 'go on' };
const offered = ({ tools = [] }: Sent) => tools.map((each) => each.function.name);

describe('tools that wait to be found', () => {
  const tools = [
    tool('ToolSearch'),
    tool('mcp__mail', { defer_loading: true }),
    tool('DeferredToolPlaceholder', { defer_loading: true }),
  ];

  test('are not offered', () => {
    expect(offered(sent('messages', { tools, messages: [ask] }))).toEqual(['ToolSearch']);
  });

  test('are offered once a search has named them, and the model reads which', () => {
    const found = result('s', [{ type: 'tool_reference', tool_name: 'mcp__mail' }]);
    const body = sent('messages', { tools, messages: [ask, use('s', 'ToolSearch'), found] });

    expect(offered(body)).toEqual(['ToolSearch', 'mcp__mail']);
    expect(body.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('mcp__mail'),
    });
  });

  test('are offered if the request forces them', () => {
    const body = sent('messages', {
      tools,
      messages: [ask],
      tool_choice: { type: 'tool', name: 'mcp__mail' },
    });

    expect(offered(body)).toEqual(['ToolSearch', 'mcp__mail']);
    expect(body).toMatchObject({ tool_choice: { function: { name: 'mcp__mail' } } });
  });

  test('are all offered where the search is the provider’s own', () => {
    const own = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };

    expect(offered(sent('messages', { tools: [own, ...tools.slice(1, 2)], messages: [ask] }))).toEqual([
      'mcp__mail',
    ]);
  });

  test('come and go with additions and removals, whose definitions may stand in the conversation', () => {
    const change = (type: string, changed: object) => ({
      role: 'system',
      content: [{ type, tool: changed }],
    });
    const messages = [
      ask,
      change('tool_addition', { type: 'tool_definition', definition: tool('late') }),
      change('tool_addition', { type: 'tool_reference', name: 'mcp__mail' }),
      change('tool_removal', { type: 'tool_reference', name: 'ToolSearch' }),
      change('tool_removal', { type: 'tool_reference', name: 'late' }),
      change('tool_addition', { type: 'tool_definition', definition: tool('late') }),
    ];

    expect(offered(sent('messages', { tools, messages }))).toEqual(['mcp__mail', 'late']);
  });
});

test.each(['fallback', 'mcp_tool_use', 'mcp_tool_listing', 'server_tool_use'])(
  'a block of %s ends no conversation',
  (type) => {
    const assistant = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'so' },
        { type, from: {}, to: {}, id: 'x', name: 'y', input: {} },
      ],
    };

    expect(sent('messages', { messages: [ask, assistant, ask] }).messages[1]).toEqual({
      role: 'assistant',
      content: 'so',
    });
  },
);

test('a compacted history is read as what it says', () => {
  const assistant = { role: 'assistant', content: [{ type: 'compaction', content: 'we planted ferns' }] };

  expect(sent('messages', { messages: [ask, assistant, ask] }).messages[1]).toMatchObject({
    content: 'we planted ferns',
  });
});

describe('a document that the model can’t take', () => {
  const pdf = Buffer.from('%PDF-1.4 /Type /Page /Type /Page /Type /Pages').toString('base64');
  const source = { type: 'base64', media_type: 'application/pdf', data: pdf };
  const read = [ask, use('r', 'Read'), result('r', [{ type: 'document', source, title: 'a.pdf' }])];
  const body = { tools: [tool('Read')], messages: read };

  test('is described in its place, so that the conversation goes on', () => {
    const content = JSON.stringify(sent('messages', body).messages.slice(2));

    expect(content).toContain('[document a.pdf, 2 pages: this model takes no documents]');
    expect(content).not.toContain(pdf);
  });

  test('is refused for those who want that', () => {
    expect(() => sent('messages', body, { unsupportedContent: 'refuse' })).toThrow(
      expect.objectContaining({
        code: 'request.unsupported',
        param: 'messages[2].content[0].content[0]',
      }) as Error,
    );
  });

  test('goes to a host that reads it', () => {
    expect(JSON.stringify(sent('messages', body, { host: 'openai' }))).toContain(pdf);
  });
});

describe('a picture that the host can’t take', () => {
  const seen = (image_url: string, context: Partial<TranslationContext>) => {
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url }] }];
    return JSON.stringify(
      startTranslation('responses', 'chat', undefined, context).request({ model: 'm', input }).body,
    );
  };
  // biome-ignore format: a case a line
  test.each([
    ['data:image/png;base64,AAAA', 'deepseek', 'deepseek-v4-pro', '[image: this model takes no pictures]'],
    ['https://example.com/a.png', 'moonshot', 'kimi-k2.6', '[image: this host reads no addresses, only pictures inside the request]'],
    ['data:image/gif;base64,AAAA', 'gemini', 'gemini-3-pro', '[image: this model takes only jpeg, png, webp, heic, heif]'],
  ] as const)('%s is described in its place at %s', (url, host, targetModel, words) => {
    expect(seen(url, { host, targetModel })).toContain(words);
  });

  test('goes to hosts that may read it', () => {
    expect(seen('data:image/heic;base64,AAAA', { host: 'unknown' })).toContain('data:image/heic;base64,AAAA');
  });
});

test('an item that is only named is refused, with what to do about it', () => {
  const input = [{ type: 'item_reference', id: 'msg_1' }];

  expect(() => startTranslation('responses', 'chat').request({ model: 'm', input })).toThrow(
    /input\[0\].*store: false.*openai\.chat\(\)/,
  );
});

test('a search of the web alone is named as not available', () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  const body = sent('messages', { tools, messages: [ask] });

  expect(body.tools).toBeUndefined();
  expect(body.messages[0]).toEqual({ role: 'system', content: '[web_search: not available at this model]' });
});

test.each(['image/jpg', 'image/JPEG', 'IMAGE/pjpeg'])('%s is JPEG', (type) => {
  const image = { type: 'image_url', image_url: { url: `data:${type};base64,AAAA` } };
  const { body } = startTranslation('chat', 'messages').request({
    model: 'm',
    messages: [{ role: 'user', content: [image] }],
  });

  expect(JSON.stringify(body)).toContain('"media_type":"image/jpeg"');
});

describe('calls whose ids say little', () => {
  const call = (id: string, city: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: JSON.stringify({ city }) },
  });
  const turn = (ids: readonly string[], round: number) => [
    { role: 'assistant', content: null, tool_calls: ids.map((id, i) => call(id, `city ${round}.${i}`)) },
    ...ids.map((id, i) => ({ role: 'tool', tool_call_id: id, content: `result ${round}.${i}` })),
  ];
  const cases = {
    'one id for all': ['call_0', 'call_0'],
    'no ids': ['', ''],
    'counted from 0 in each turn': ['call_0', 'call_1'],
  };

  test.each(Object.entries(cases))('%s: each result finds its call, and ids are unique', (_name, ids) => {
    const messages = [ask, ...turn(ids, 1), { role: 'user', content: 'again' }, ...turn(ids, 2)];
    const { body } = startTranslation('chat', 'messages').request({ model: 'm', messages });
    const blocks = (
      body as { messages: { content: { type: string; id?: string; tool_use_id?: string }[] }[] }
    ).messages.flatMap(({ content }) => content);
    const uses = blocks.filter(({ type }) => type === 'tool_use');
    const results = blocks.filter(({ type }) => type === 'tool_result');

    expect(new Set(uses.map(({ id }) => id)).size).toBe(4);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(uses.map(({ id }) => id));
    expect(JSON.stringify(results)).toMatch(/result 1\.0.*result 1\.1.*result 2\.0.*result 2\.1/);
  });
});
