// Whole answers of all the shapes that a loop inside a loop would make slow.
import { shapeOf } from './shapes.mjs';

/** Shapes of requests that answers can have as well: their text, or what stands beside it. */
const shared = [
  'words',
  'random base64',
  'random base64 between blanks',
  'many keys',
  'escaped keys',
  'nested arrays',
  'numbers',
  'white space',
  'strings of \\u6f22',
  'one text: quote',
  'one text: wide',
  'one text: at',
  'one text: brace',
  'one text: placeholder',
];
const many = (bytes, make) =>
  Array.from({ length: Math.ceil(bytes / JSON.stringify(make(0)).length) }, (_, at) => make(at));

/** What the model wrote, by the path of the provider's dialect; the text, blocks or calls are JSON values. */
const forms = {
  '/messages': {
    text: (text) => ({ content: [{ type: 'text', text }] }),
    blocks: (bytes) => ({ content: many(bytes, () => ({ type: 'text', text: 'a' })) }),
    calls: (bytes) => ({
      content: many(bytes, (at) => ({ type: 'tool_use', id: `c${at}`, name: 't', input: { a: at } })),
    }),
  },
  '/chat/completions': {
    text: (content) => ({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }),
    blocks: (bytes) => ({
      choices: many(bytes, (index) => ({
        index,
        message: { role: 'assistant', content: 'a' },
        finish_reason: 'stop',
      })),
    }),
    calls: (bytes) => ({
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: many(bytes, (at) => ({
              id: `c${at}`,
              type: 'function',
              function: { name: 't', arguments: `{"a":${at}}` },
            })),
          },
          finish_reason: 'tool_calls',
        },
      ],
    }),
  },
  '/responses': {
    text: (text) => ({
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
    }),
    blocks: (bytes) => ({
      output: [
        {
          type: 'message',
          role: 'assistant',
          content: many(bytes, () => ({ type: 'output_text', text: 'a' })),
        },
      ],
    }),
    calls: (bytes) => ({
      output: many(bytes, (at) => ({
        type: 'function_call',
        id: `f${at}`,
        call_id: `c${at}`,
        name: 't',
        arguments: `{"a":${at}}`,
      })),
    }),
  },
  ':generateContent': {
    text: (text) => ({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP' }],
    }),
    blocks: (bytes) => ({
      candidates: [{ content: { parts: many(bytes, () => ({ text: 'a' })) }, finishReason: 'STOP' }],
    }),
    calls: (bytes) => ({
      candidates: [
        {
          content: {
            parts: many(bytes, (at) => ({ functionCall: { id: `c${at}`, name: 't', args: { a: at } } })),
          },
          finishReason: 'STOP',
        },
      ],
    }),
  },
  '/embeddings': {
    text: (text) => ({ data: [{ object: 'embedding', index: 0, embedding: [1] }], text }),
    blocks: (bytes) => ({
      data: many(bytes, (index) => ({ object: 'embedding', index, embedding: [0.125, -0.25] })),
    }),
    calls: (bytes) => ({
      data: [{ object: 'embedding', index: 0, embedding: many(bytes / 5, (at) => (at % 10) / 8) }],
    }),
  },
  ':embedContent': {
    text: (text) => ({ embedding: { values: [1] }, text }),
    blocks: (bytes) => ({ embedding: { values: many(bytes / 5, (at) => (at % 10) / 8) } }),
    calls: (bytes) => ({ embedding: { values: [1] }, more: many(bytes, () => ({ values: [0.125] })) }),
  },
  ':batchEmbedContents': {
    text: (text) => ({ embeddings: [{ values: [1] }], text }),
    blocks: (bytes) => ({ embeddings: many(bytes, () => ({ values: [0.125, -0.25] })) }),
    calls: (bytes) => ({ embeddings: [{ values: many(bytes / 5, (at) => (at % 10) / 8) }] }),
  },
};

export const answerNames = [...shared, 'blocks', 'calls'];

/** An answer of about so many bytes, made of a harmless one of its path. */
export function shapedAnswer(name, bytes, { path, answer, seed = 1 }) {
  const form = forms[path];
  if (name === 'blocks' || name === 'calls') return toBytes({ ...answer, ...form[name](bytes) });
  const { content = '"hello"', more } = shapeOf(name, bytes, seed);
  const text = JSON.stringify({ ...answer, ...form.text('@text') }).replace('"@text"', () => content);
  return Buffer.from(more === undefined ? text : `${text.slice(0, -1)},${more}}`);
}

function toBytes(value) {
  return Buffer.from(JSON.stringify(value));
}
