import { brokenAnswer, type Fields, isFields, toFields, toList } from '../fields.ts';

const floatBytes = 4;

/**
 * The answer in the requested encoding, if the host ignored the request for it; undefined if it did not. OpenAI's SDK asks
 * for base64 by default, and misreads an array of numbers.
 */
export function adaptEmbeddings(answer: unknown, form: string | undefined): Fields | undefined {
  const data = toList(toFields(answer).data);
  const isText = typeof toFields(data[0]).embedding === 'string';
  const wantsText = form === 'base64';
  if (isText === wantsText || data.length === 0) return undefined;
  return wantsText ? encodeEmbeddings(answer) : decodeEmbeddings(answer);
}

/** An embeddings answer with every vector as base64: 32-bit floats, little-endian, packed. */
export function encodeEmbeddings(body: unknown): Fields {
  return mapEmbeddings(body, (embedding) => (typeof embedding === 'string' ? embedding : encode(embedding)));
}

/** An embeddings answer with every vector as an array of numbers. */
export function decodeEmbeddings(body: unknown): Fields {
  return mapEmbeddings(body, (embedding) => (typeof embedding === 'string' ? decode(embedding) : embedding));
}

function mapEmbeddings(body: unknown, convert: (embedding: unknown) => unknown): Fields {
  if (!isFields(body) || !Array.isArray(body.data)) throw brokenAnswer('has no embeddings');
  const data = body.data.map((entry: unknown) => {
    if (!isFields(entry)) throw brokenAnswer('has an embedding that is not an object');
    return { ...entry, embedding: convert(entry.embedding) };
  });
  return { ...body, data };
}

function encode(embedding: unknown): string {
  if (!Array.isArray(embedding)) throw brokenAnswer('has an embedding that is no array of numbers');
  const bytes = Buffer.alloc(embedding.length * floatBytes);
  embedding.forEach((number: unknown, index) => {
    if (typeof number !== 'number') throw brokenAnswer('has an embedding that is no array of numbers');
    bytes.writeFloatLE(number, index * floatBytes);
  });
  return bytes.toString('base64');
}

function decode(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % floatBytes !== 0)
    throw brokenAnswer('has an embedding of broken base64');
  return Array.from({ length: bytes.length / floatBytes }, (_each, index) =>
    bytes.readFloatLE(index * floatBytes),
  );
}
