// Bodies of all the shapes that a loop inside a loop, or a search that runs past its text, would make slow.

const list = (count, make) => Array.from({ length: Math.max(1, Math.floor(count)) }, (_, at) => make(at));
const join = (bytes, unit) => `${`${unit},`.repeat(Math.max(0, bytes / (unit.length + 1) - 1))}${unit}`;
const escapesInStrings = ['\\n', '\\"', '\\\\', '\\u0041', '\\u6f22', '\\ud83d\\ude00', '\\u0000'];
const characters = {
  quote: '\\"',
  'line break': '\\n',
  'carriage return': '\\r',
  wide: '漢',
  mark: 'a\u0301\u0323',
  digit: '7',
  telephone: '+49 30 901820 ',
  at: 'a@b.',
  hyphen: '-',
  dash: 'a-',
  slash: '/',
  brace: '{',
  bracket: '[',
  colon: 'data:',
  percent: '%41',
  placeholder: 'EMAIL_',
  blank: ' ',
};

/** Random letters, the same for the same seed; all of them have as many UTF-16 units. */
function random(count, letters, seed) {
  const units = letters[0].length;
  const text = new Uint16Array(count * units);
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  for (let at = 0; at < text.length; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The high bits: the low ones repeat within some thousand letters.
    const letter = letters[Math.floor((state / 2 ** 32) * letters.length)];
    for (let unit = 0; unit < units; unit += 1, at += 1) text[at] = letter.charCodeAt(unit);
  }
  return Buffer.from(text.buffer).toString('utf16le');
}

/** Characters that random runs are made of. */
const alphabets = {
  letters: [...'abcdefghijklmnopqrstuvwxyz'],
  digits: [...'0123456789'],
  hex: [...'0123456789abcdef'],
  base32: [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'],
  base64: [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'],
  signs: [...'ab01.-_/@:=+ '],
  Chinese: Array.from({ length: 500 }, (_, at) => String.fromCodePoint(0x4e00 + 7 * at)),
  emoji: Array.from({ length: 60 }, (_, at) => String.fromCodePoint(0x1f600 + at)),
};
const unitBytes = (letters) => Buffer.byteLength(letters[0]);

/** So many random runs of so many letters. */
function runs(count, length, letters, seed) {
  const text = random(Math.max(1, Math.floor(count)) * length, letters, seed);
  const units = length * letters[0].length;
  return list(count, (at) => text.slice(at * units, (at + 1) * units));
}

/** Random runs: one, in blocks, and between blanks. Each seed makes other ones. */
const randomShapes = Object.fromEntries(
  Object.entries(alphabets).flatMap(([name, letters]) => [
    [
      `random ${name}`,
      (bytes, seed) => ({ content: `"${random(bytes / unitBytes(letters), letters, seed)}"` }),
    ],
    [
      `random ${name} in blocks`,
      (bytes, seed) => ({
        content: `[${runs(bytes / (60 * unitBytes(letters) + 28), 60, letters, seed)
          .map((text) => `{"type":"text","text":"${text}"}`)
          .join()}]`,
      }),
    ],
    [
      `random ${name} between blanks`,
      (bytes, seed) => ({
        content: `"${runs(bytes / (16 * unitBytes(letters) + 1), 16, letters, seed).join(' ')}"`,
      }),
    ],
  ]),
);

/** JSON of about so many bytes: the value of the only message's content, and further fields of the body. */
const shapes = {
  words: (bytes) => ({ content: `"${'the gateway should stream tokens '.repeat(bytes / 33)}"` }),
  'words in blocks': (bytes) => ({
    content: `[${join(bytes, '{"type":"text","text":"the gateway should stream tokens, one after the other, to all"}')}]`,
  }),
  ...randomShapes,
  addresses: (bytes) => ({ content: `"${list(bytes / 24, (at) => `u${at}@example.com, `).join('')}"` }),
  'addresses in blocks': (bytes) => ({
    content: `[${list(bytes / 48, (at) => `{"type":"text","text":"u${at}@example.com"}`).join()}]`,
  }),
  'blocks of text': (bytes) => ({ content: `[${join(bytes, '{"type":"text","text":"a"}')}]` }),
  messages: (bytes) => ({
    messages: `[${join(bytes / 2, '{"role":"user","content":"a"},{"role":"assistant","content":"b"}')}]`,
  }),
  'many keys': (bytes) => ({ more: `"x":{${list(bytes / 14, (at) => `"key${at}":1`).join()}}` }),
  'keys of the body': (bytes) => ({ more: list(bytes / 14, (at) => `"key${at}":1`).join() }),
  'escaped keys': (bytes) => ({ more: `"x":{${list(bytes / 16, (at) => `"\\n${at}":1`).join()}}` }),
  tools: (bytes) => ({
    more: `"tools":[${list(bytes / 60, (at) => `{"name":"t${at}","description":"d","input_schema":{"type":"object"}}`).join()}]`,
  }),
  calls: (bytes) => ({
    messages: `[{"role":"user","content":"a"},{"role":"assistant","content":[${list(bytes / 70, (at) => `{"type":"tool_use","id":"c${at}","name":"t","input":{"a":${at}}}`).join()}]},{"role":"user","content":[${list(bytes / 70, (at) => `{"type":"tool_result","tool_use_id":"c${at}","content":"r"}`).join()}]}]`,
  }),
  images: (bytes) => ({
    content: `[${join(bytes, '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}')}]`,
  }),
  'nested arrays': (bytes) => ({ more: `"x":[${join(bytes, `${'['.repeat(90)}${']'.repeat(90)}`)}]` }),
  numbers: (bytes) => ({ more: `"x":[${join(bytes, '7')}]` }),
  'arguments within arguments': (bytes) => {
    let inner = JSON.stringify({ a: 'b'.repeat(bytes / 16) });
    while (inner.length < bytes / 2) inner = JSON.stringify({ a: inner });
    return { content: JSON.stringify(inner) };
  },
  'texts of JSON': (bytes) => ({ content: `[${join(bytes, '{"type":"text","text":"{\\"a\\":\\"b\\"}"}')}]` }),
  'white space': (bytes) => ({ more: `"x":[${' \n\t'.repeat(bytes / 3)}]` }),
  ...Object.fromEntries(
    escapesInStrings.map((each) => [
      `strings of ${each}`,
      (bytes) => ({ more: `"x":[${join(bytes, `"${each}"`)}]` }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(characters).map(([name, unit]) => [
      `one text: ${name}`,
      (bytes) => ({ content: `"${unit.repeat(bytes / Buffer.byteLength(unit))}"` }),
    ]),
  ),
};

export const shapeNames = Object.keys(shapes);

/** What has something to mask, for what is measured of its answer. */
const asked = { content: '"write to ann@example.com"' };

/** The value of a message, or the messages, or further fields of a body: JSON of about so many bytes. */
export function shapeOf(name, bytes, seed = 1) {
  if (name === 'asked') return asked;
  return name === 'stream' ? { ...asked, more: '"stream":true' } : shapes[name](bytes, seed);
}

const fieldNames = { '/v1/responses': 'input', '/v1/embeddings': 'input' };

/** A body of about so many bytes for an endpoint; not all of its blocks are of that endpoint's dialect. */
export function shapedBody(
  name,
  bytes,
  { model = 'sandbox-mini', endpoint = '/v1/messages', seed = 1 } = {},
) {
  const shape = shapeOf(name, bytes, seed);
  if (endpoint.startsWith('/v1beta/')) {
    // Whether it streams is in the path.
    const body = geminiBody(name === 'stream' ? asked : shape);
    return Buffer.from(endpoint.endsWith(':embedContent') ? embeddedBody(body) : body);
  }
  const { content = '"hello"', messages = `[{"role":"user","content":${content}}]`, more } = shape;
  const said = endpoint === '/v1/embeddings' ? (shape.messages ?? content) : messages;
  const cap = endpoint === '/v1/messages' ? '"max_tokens":1,' : '';
  const rest = more === undefined ? '' : `,${more}`;
  const text = `{"model":"${model}",${cap}"${fieldNames[endpoint] ?? 'messages'}":${said}${rest}}`;
  return Buffer.from(
    endpoint === '/v1/responses' ? text.replaceAll('"type":"text"', '"type":"input_text"') : text,
  );
}

/** The same with the members of a Gemini request, whose model is in the path. */
function geminiBody({ content = '"hello"', messages, more = '"x":1' }) {
  const turns =
    messages ?? `[{"role":"user","content":${content[0] === '[' ? content : `[{"text":${content}}]`}}]`;
  const contents = turns
    .replace(/"content":"(.)"(?=}[,\]])/g, '"content":[{"text":"$1"}]')
    .replaceAll('"content":[', '"parts":[')
    .replaceAll('"role":"assistant"', '"role":"model"')
    .replaceAll('"type":"text",', '')
    .replace(
      /{"type":"tool_use",("id":"\w+","name":"t"),"input":({[^}]*})}/g,
      '{"functionCall":{$1,"args":$2}}',
    )
    .replace(
      /{"type":"tool_result","tool_use_id":("\w+"),"parts":\[({[^}]*})\]}/g,
      '{"functionResponse":{"id":$1,"name":"t","response":$2}}',
    )
    .replace(
      /{"type":"image","source":{"type":"base64","media_type":("[^"]*"),"data":("[^"]*")}}/g,
      '{"inlineData":{"mimeType":$1,"data":$2}}',
    );
  return `{"contents":${contents},${more}}`;
}

/** The same of one content, as embeddings have it; other parts than texts are none of theirs. */
function embeddedBody(body) {
  return body.replace(/^{"contents":\[{"role":"user",("parts":.*)}\],/s, '{"content":{$1},');
}
