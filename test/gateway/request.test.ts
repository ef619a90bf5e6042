import { describe, expect, test } from 'vitest';
import { endpoints, type ModelEndpoint } from '../../src/gateway/endpoints.ts';
import { checkMediaType, parseRequest } from '../../src/gateway/request.ts';

function endpoint(path: string): ModelEndpoint {
  return endpoints.get(path) as ModelEndpoint; // those asked for here are all of models
}

describe('content-type', () => {
  const check = (value: string | undefined) => () =>
    checkMediaType({ header: (name) => (name === 'content-type' ? value : undefined) });

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('%s is taken', (value) => {
    expect(check(value)).not.toThrow();
  });

  test.each([
    undefined,
    '',
    'text/plain',
    'text/plain;application/json',
    'application/json, text/plain',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; boundary=x',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    `application/json${' '.repeat(15_000)}x`,
  ])('%j is refused', (value) => {
    expect(check(value)).toThrow('content-type must be application/json');
  });
});

test.each(['/v1/embeddings', '/v1/messages/count_tokens'])('there is nothing to stream at %s', (path) => {
  const parse = (stream: boolean) =>
    parseRequest(Buffer.from(`{"model":"m","messages":[],"input":"x","stream":${stream}}`), endpoint(path));

  expect(() => parse(true)).toThrow(expect.objectContaining({ code: 'request.field', param: '/stream' }));
  expect(parse(false).stream).toBe(false);
});
