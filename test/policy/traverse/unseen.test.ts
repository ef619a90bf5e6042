import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { decider } from '../deciding.ts';

const strict = decider({
  opaque_content: 'block',
  unseen_references: 'block',
  rules: [
    {
      id: 'codename',
      action: 'block',
      when: { text: { phrases: ['project nightfall'] } },
      reason: 'content.codename',
    },
  ],
});
const reasonOf = (endpoint: DialectName, body: object) =>
  strict({ model: 'm', ...body }, { endpoint }).refusal?.reason;

const base64 = (data: string | Buffer) => Buffer.from(data).toString('base64');
const png = base64(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'));
const longPng = base64(Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(64)]));
const noise = base64(Buffer.from(Array.from({ length: 64 }, (_, at) => (at * 37) % 256)));
const name = base64('project nightfall');
const hello = base64('hello, how are you today? fine, thanks');
const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });
const item = (...input: readonly object[]) => ({ input });
const message = { type: 'message', role: 'assistant', id: 'msg_1' };
const document = (source: object) => user({ type: 'document', source });
const picture = (url: string) => user({ type: 'image_url', image_url: { url } });
const file = (file_data: string) => user({ type: 'file', file: { file_data } });
const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const opaque = 'content.opaque';
const reference = 'content.unseen_reference';
const codename = 'content.codename';

const blanks = [...' \t\n\u00a0\u3000\u2003\ufeff\u200b\u0000\u0001', '\r\n', ' '.repeat(5_000)];

describe('bytes', () => {
  test.each(blanks)('behind %j in a URL are seen', (blank) => {
    expect(reasonOf('chat', picture(`${blank}data:image/png;base64,${png}`))).toBe(opaque);
    expect(reasonOf('chat', picture(`${blank}data:text/plain;base64,${name}`))).toBe(codename);
    const image = { type: 'input_image', image_url: `${blank}data:image/png;base64,${png}` };
    expect(reasonOf('responses', item({ role: 'user', content: [image] }))).toBe(opaque);
  });

  test.each<[string, DialectName, object, string | undefined]>(
    // biome-ignore format: a case a line
    [
      ['a scheme with line ends', 'chat', picture(`da\nta:image/png;base64,${png}`), opaque],
      ['a data URL without a comma', 'chat', picture('data:image/png;base64'), opaque],
      ['a picture that claims to be text', 'messages', document({ type: 'base64', media_type: 'text/plain', data: png }), opaque],
      ['noise that claims to be text', 'messages', document({ type: 'base64', media_type: 'text/plain', data: noise }), opaque],
      ['a picture that claims to be text in a URL', 'chat', picture(`data:text/plain;base64,${png}`), opaque],
      ['a picture in percents', 'chat', picture('data:image/png,%89PNG%0D%0A'), opaque],
      ['a text that claims to be a picture', 'messages', document({ type: 'base64', media_type: 'image/png', data: name }), codename],
      ['a harmless text that claims to be a picture', 'messages', document({ type: 'base64', media_type: 'image/png', data: hello }), undefined],
      ['a text that claims to be a picture, in a URL', 'chat', picture(`data:image/png;base64,${name}`), codename],
      ['a source without a type', 'messages', document({ data: noise }), opaque],
      ['a short source without a type', 'messages', document({ data: png }), opaque],
      ['short sound without a format', 'chat', user({ type: 'input_audio', input_audio: { data: png } }), opaque],
      ['a source without a type, of text', 'messages', document({ data: base64('project nightfall, and what it is') }), codename],
      ['a URL without a type', 'messages', document({ url: 'https://example.org/a.pdf' }), reference],
      ['bytes as numbers', 'messages', document({ type: 'base64', media_type: 'image/png', data: [137, 80] }), opaque],
      ['a file with rubbish behind it', 'chat', file(`${png}!!`), opaque],
      ['a text file with rubbish behind it', 'chat', file(`${hello} !!`), opaque],
      ['a text file behind padding', 'chat', file(`${base64('x')}${name}`), codename],
      ['a file of text', 'chat', file(name), codename],
      ['a file of harmless text', 'chat', file(hello), undefined],
      ['sound without a format', 'chat', user({ type: 'input_audio', input_audio: { data: noise } }), opaque],
      ['a picture in a member of no known name', 'responses', item({ type: 'hologram', payload: longPng }), opaque],
      ['an MCP picture', 'messages', user({ type: 'tool_result', content: [{ type: 'image', data: png, mimeType: 'image/png' }] }), opaque],
      ['an item of an id', 'responses', item({ id: 'msg_1' }), reference],
      ['an item of an id and a type', 'responses', item({ type: 'reasoning', id: 'rs_1', summary: [] }), reference],
      ['a message of an id', 'responses', item({ ...message, content: [] }), reference],
      ['a picture that is only an id', 'responses', item({ type: 'image_generation_call', id: 'ig_1', status: 'completed' }), reference],
      ['an image without its URL', 'chat', user({ type: 'image_url', image_url: { uri: 'https://example.org/a.png' } }), reference],
      ['a block of an id', 'chat', user({ type: 'file', id: 'file_1' }), reference],
      ['an item with something in it', 'responses', item({ ...message, content: [{ type: 'output_text', text: 'hi' }] }), undefined],
    ],
  )('%s (%s)', (_name, endpoint, body, expected) => {
    expect(reasonOf(endpoint, body)).toBe(expected);
  });

  const jpeg = base64(Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(64)]));
  const pdf = base64(`%PDF-1.7\n${'x'.repeat(64)}`);
  const gzip = base64(Buffer.concat([Buffer.from('1f8b0800', 'hex'), Buffer.alloc(64)]));
  const call = (input: object) => ({
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input }] }],
  });
  // biome-ignore format: a place a line
  const places: readonly (readonly [string, (data: string) => string])[] = [
    ['a text', (data) => JSON.stringify(say(data))],
    ['a text, with blanks in front', (data) => JSON.stringify(say(` \n${data}`))],
    ['a text, with escaped slashes', (data) => JSON.stringify(say(data)).replaceAll('/', '\\/')],
    ['a text, with line ends', (data) => JSON.stringify(say(data.replace(/.{76}/g, '$&\n')))],
    ['a turn', (data) => JSON.stringify({ messages: [{ role: 'user', content: 'hi', images: [data] }] })],
    ['the request', (data) => JSON.stringify({ ...say('hi'), image: data })],
    ['an object of the request', (data) => JSON.stringify({ ...say('hi'), extra: { data } })],
    ['a call', (data) => JSON.stringify(call({ path: 'a', bytes: data }))],
    ['JSON in a result', (data) => JSON.stringify(user({ type: 'tool_result', tool_use_id: 't', content: JSON.stringify({ shot: data }) }))],
    ['a URL', (data) => JSON.stringify(user({ type: 'image_url', image_url: { url: data } }))],
  ];

  test.each(places)('that stand whole in a string of %s are seen', (_place, bodyWith) => {
    const seen = decider({ opaque_content: 'block', rules: [] });
    for (const data of [longPng, jpeg, pdf, gzip]) {
      expect(seen(bodyWith(data)).refusal?.reason).toBe(opaque);
    }
    expect(seen(bodyWith(base64('a text that goes on for a while, and then some more of it'))).action).toBe(
      'allow',
    );
  });

  test.each([
    'H4s is how gzip begins in base64, which makes a text of words no archive at all',
    'iVBORw0KGgo is how a PNG begins in base64, and this is a sentence about it',
    '/usr/local/lib/node_modules/npm/node_modules/graceful-fs/package/readme',
    'a'.repeat(64),
    '0123456789abcdef'.repeat(8),
  ])('are not taken for a picture where a text is one: %s', (text) => {
    expect(reasonOf('messages', say(text))).toBeUndefined();
  });

  test.each([
    'data: the results of the last week, in short',
    'Data: 1, 2, 3',
    'data:image/png is how such URLs begin, mostly',
    'data:image/png;base64,AAAA is an example',
    ' data:, and nothing else',
    '\n\ndata: [DONE], they say',
  ])('prose that begins with "data:" is prose: %s', (text) => {
    expect(reasonOf('messages', say(text))).toBeUndefined();
  });

  test('a whole data URL in place of prose is read all the same', () => {
    expect(reasonOf('messages', say(`data:text/plain;base64,${name}`))).toBe(codename);
    expect(reasonOf('messages', say(`data:image/png;base64,${png}`))).toBe(opaque);
    expect(reasonOf('messages', say(`data:text/plain;base64,${png}`))).toBe(opaque);
    expect(reasonOf('messages', say(`data:text/plain;base64,${png} is an example`))).toBeUndefined();
  });
});

describe('a rule for one role', () => {
  const onlyUser = decider({
    rules: [
      { id: 'codename', action: 'block', when: { text: { phrases: ['project nightfall'], in: ['user'] } } },
    ],
  });
  const phrase = 'project nightfall';

  test.each<[string, DialectName, object]>(
    // biome-ignore format: a case a line
    [
      ['a look-alike of a result', 'messages', user({ type: 'my_tool_result', content: phrase })],
      ['a type in capitals', 'messages', user({ type: 'Tool_Result', content: phrase })],
      ['a type that is no text', 'messages', user({ type: ['tool_result'], content: phrase })],
      ['a block without a type', 'messages', { messages: [{ role: 'assistant', content: [{ text: phrase }] }] }],
      ['a block of another dialect', 'chat', { messages: [{ role: 'assistant', content: [{ type: 'input_text', text: phrase }] }] }],
      ['a look-alike of an output', 'responses', { input: [{ type: 'my_output', output: phrase }] }],
      ['a look-alike of a call', 'responses', { input: [{ type: 'my_call', arguments: phrase }] }],
      ['an output with a role', 'responses', { input: [{ type: 'function_call_output', role: 'user', content: phrase }] }],
      ['a role that is nobody', 'chat', { messages: [{ role: 'User', content: phrase }] }],
      ['a type that is no text of an item', 'responses', { input: [{ type: 1, role: 'assistant', content: phrase }] }],
    ],
  )('is not avoided by %s (%s)', (_name, endpoint, body) => {
    expect(onlyUser(body, { endpoint }).action).toBe('block');
  });

  test.each<[string, DialectName, object]>(
    // biome-ignore format: a case a line
    [
      ['a result', 'messages', user({ type: 'tool_result', content: [{ type: 'text', text: phrase }] })],
      ['a result of the provider', 'messages', user({ type: 'web_search_tool_result', content: [{ type: 'web_search_result', title: phrase }] })],
      ['an answer', 'chat', { messages: [{ role: 'assistant', content: [{ type: 'text', text: phrase }] }] }],
      ['an output', 'responses', { input: [{ type: 'function_call_output', call_id: 'c', output: phrase }] }],
      ['a call', 'responses', { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: phrase }] }],
    ],
  )('leaves %s alone (%s)', (_name, endpoint, body) => {
    expect(onlyUser(body, { endpoint }).action).toBe('allow');
  });
});
