import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/registry.ts';
import { countTokensPath, endpoints, type ModelEndpoint } from '../../src/gateway/endpoints.ts';
import { bodyFor, checkMediaType, forwardedQuery, parseRequest } from '../../src/gateway/request.ts';
import type { Provider } from '../../src/providers/provider.ts';

function endpoint(path: string): ModelEndpoint {
  return endpoints.get(path) as ModelEndpoint; // those asked for here are all of models
}

const chat = endpoint(dialects.chat.path);
const to = (model: string) => ({ model, provider: {} as Provider }); // only the model is looked at

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

describe('the body for a target', () => {
  const body = Buffer.from(
    '{ "messages" : [] ,\n "mode\\u006c":"gp\\u0074" , "seed":9007199254740993, "é":1.0 }',
  );

  test('is the very bytes where the name is the same, however it was spelled', () => {
    const request = parseRequest(body, chat);

    expect(bodyFor(request, to('gpt'))).toEqual({ body, fate: 'exact' });
    expect(bodyFor(request, to('gpt')).body.buffer).toBe(body.buffer);
  });

  test('differs in nothing but the bytes of the name where it is another', () => {
    const request = parseRequest(body, chat);

    const { body: spliced, fate } = bodyFor(request, to('a"b\\é'));

    expect(fate).toBe('spliced');
    expect(spliced.toString()).toBe(body.toString().replace('gp\\u0074', 'a\\"b\\\\é'));
  });
});

describe('stream', () => {
  test.each([dialects.embeddings.path, countTokensPath])('there is nothing to stream at %s', (path) => {
    const body = Buffer.from('{"model":"m","messages":[],"input":"x","stream":true}');

    expect(() => parseRequest(body, endpoint(path))).toThrow(
      expect.objectContaining({ code: 'request.field', param: '/stream' }),
    );
  });

  test('false is fine everywhere', () => {
    const body = Buffer.from('{"model":"m","messages":[],"input":"x","stream":false}');

    for (const path of [dialects.embeddings.path, countTokensPath]) {
      expect(parseRequest(body, endpoint(path)).stream).toBe(false);
    }
  });
});

test.each([
  ['', ''],
  ['beta=true', '?beta=true'],
  ['x=1&beta=true&y=2', '?beta=true'],
  ['beta=true&beta=false', '?beta=true'],
  ['beta', '?beta='],
  ['beta=a%26b%3Dc%0d%0a', '?beta=a%26b%3Dc%0D%0A'],
  ['Beta=true', ''],
  ['api_key=secret&base_url=http://evil.example', ''],
])('of the query %j goes on %j', (query, expected) => {
  expect(forwardedQuery(query)).toBe(expected);
});
