import { expect, test } from 'vitest';
import { sign } from '../../../src/providers/credentials/aws.ts';

/** The keys, time and scope of AWS' signing test suite (github.com/awslabs/aws-c-auth). */
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const suite = { keys, date: new Date('2015-08-30T12:36:00Z'), region: 'us-east-1', service: 'service' };
const host = 'example.amazonaws.com';
const token = '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267';

const get = (path: string) => ({ method: 'GET', path, headers: [] }) as const;
const form = {
  method: 'POST',
  path: '/',
  headers: ['content-type', 'application/x-www-form-urlencoded'],
  body: Buffer.from('Param1=value1'),
} as const;
const session = { ...keys, sessionToken: token };

// biome-ignore format: a case a line
const vectors = [
  ['get-vanilla', get('/'), keys, 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', { method: 'POST', path: '/', headers: ['user-agent', 'x'] }, keys, 'host;x-amz-date', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  ['get-vanilla-query-order-key-case', get('/?Param2=value2&Param1=value1'), keys, 'host;x-amz-date', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
  ['get-vanilla-query-order-value', get('/?Param1=value2&Param1=value1'), keys, 'host;x-amz-date', '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694'],
  ['post-x-www-form-urlencoded', form, keys, 'content-type;host;x-amz-date', 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a'],
  ['get-vanilla-with-session-token', get('/'), session, 'host;x-amz-date;x-amz-security-token', '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8'],
] as const;

test.each(vectors)('signs as the published vector %s', async (_name, request, keys, signed, signature) => {
  const headers = await sign({ request, host }, { ...suite, keys });

  const at = headers.indexOf('authorization');
  expect(headers[at + 1]).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
  );
  expect(headers).toContain('20150830T123600Z');
  expect(headers).not.toContain('host');
});

test('the session token goes along, the secret key does not', async () => {
  const request = { ...form, path: '/model/a%3Ab/invoke' };

  const headers = await sign({ request, host }, { ...suite, keys: session });

  expect(headers[headers.indexOf('x-amz-security-token') + 1]).toBe(token);
  expect(headers.join()).not.toContain(keys.secretAccessKey);
});
