import { expect, test } from 'vitest';
import { decodeEmbeddings, encodeEmbeddings } from '../../../src/dialects/embeddings/embeddings.ts';

const floats = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [0.5, -1, 0.25] },
    { object: 'embedding', index: 1, embedding: [0, 2, 3] },
  ],
  model: 'host-model',
  usage: { prompt_tokens: 4, total_tokens: 4 },
};

test('packs vectors as little-endian floats and leaves the rest alone', () => {
  const encoded = encodeEmbeddings(floats);

  expect(encoded).toEqual({
    ...floats,
    data: [
      { object: 'embedding', index: 0, embedding: 'AAAAPwAAgL8AAIA+' },
      { object: 'embedding', index: 1, embedding: 'AAAAAAAAAEAAAEBA' },
    ],
  });
  expect(decodeEmbeddings(encoded)).toEqual(floats);
  expect(encodeEmbeddings(encoded)).toEqual(encoded);
  expect(decodeEmbeddings(floats)).toEqual(floats);
});

test.each([
  [null],
  [{}],
  [{ data: [1] }],
  [{ data: [{ embedding: 'x' }] }],
  [{ data: [{ embedding: ['a'] }] }],
])('refuses %j', (body) => {
  const convert = () => [encodeEmbeddings(body), decodeEmbeddings(body)];

  expect(convert).toThrow(expect.objectContaining({ code: 'provider.broken_response' }));
});
