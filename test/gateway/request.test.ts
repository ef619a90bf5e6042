import { expect, test } from 'vitest';
import { endpoints, type ModelEndpoint } from '../../src/gateway/endpoints.ts';
import { parseRequest } from '../../src/gateway/request.ts';

function endpoint(path: string): ModelEndpoint {
  return endpoints.get(path) as ModelEndpoint; // those asked for here are all of models
}

test.each(['/v1/embeddings', '/v1/messages/count_tokens'])('there is nothing to stream at %s', (path) => {
  const parse = (stream: boolean) =>
    parseRequest(Buffer.from(`{"model":"m","messages":[],"input":"x","stream":${stream}}`), endpoint(path));

  expect(() => parse(true)).toThrow(expect.objectContaining({ code: 'request.field', param: '/stream' }));
  expect(parse(false).stream).toBe(false);
});
