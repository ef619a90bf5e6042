import { expect, test } from 'vitest';
import { envelopeEdits, fillEnvelope } from '../../../src/gateway/outgoing/envelope.ts';
import { applyEdits } from '../../../src/json/byte-edits.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';

const envelope = {
  version: 'bedrock-2023-05-31',
  pathMembers: ['model', 'stream'],
  holdsBetas: true,
  betas: undefined,
  flags: [] as readonly string[],
};

function enveloped(text: string, changed: Partial<typeof envelope> = {}): string {
  const document = parseStrictJson(Buffer.from(text));
  return applyEdits(document.bytes, envelopeEdits(document, { ...envelope, ...changed })).toString();
}

const version = '"anthropic_version":"bedrock-2023-05-31"';

test.each([
  ['first', '{"model":"m","stream":true,"max_tokens":1}', `{${version},"max_tokens":1}`],
  ['last', '{"max_tokens":1,"stream":true,"model":"m"}', `{${version},"max_tokens":1}`],
  ['around', '{"model":"m","max_tokens":1,"stream":false}', `{${version},"max_tokens":1}`],
  ['in the middle', '{"a":1,"model":"m","b":{"model":"x"}}', `{${version},"a":1,"b":{"model":"x"}}`],
  ['between blanks', '{ "a" : 1 ,\n "model" : "m" , "b" : [ 2 ] }', `{${version}, "a" : 1 ,\n "b" : [ 2 ] }`],
  ['last with blanks', '{ "a" : "1" , "model" : "m" }', `{${version}, "a" : "1" }`],
  ['with its escapes', '{"\\u006dodel":"m","a":"\\u00e9"}', `{${version},"a":"\\u00e9"}`],
])('the members that the path says are cut out: %s', (_, text, expected) => {
  expect(enveloped(text)).toBe(expected);
  expect(() => JSON.parse(enveloped(text))).not.toThrow();
});

test('a version that the client gives stays', () => {
  const text = '{"anthropic_version":"bedrock-2099-01-01","model":"m","a":1}';

  expect(enveloped(text)).toBe('{"anthropic_version":"bedrock-2099-01-01","a":1}');
});

test('flags of the header are in the body, unless the client gives some there', () => {
  const flags = ['one-2025-01-01', 'two-2025-01-01'];

  expect(enveloped('{"a":1}', { flags })).toBe(
    `{"anthropic_beta":["${flags.join('","')}"],${version},"a":1}`,
  );
  expect(enveloped('{"anthropic_beta":["own"],"a":1}', { flags })).toBe(
    `{${version},"anthropic_beta":["own"],"a":1}`,
  );
});

test('where the path says nothing the members stay', () => {
  expect(enveloped('{"model":"m","a":1}', { pathMembers: [] })).toBe(`{${version},"model":"m","a":1}`);
});

test('headers that are in the body are taken out', () => {
  const headers = ['accept', 'x', 'anthropic-version', '2023-06-01', 'anthropic-beta', 'a-1, b-2,'];

  expect(fillEnvelope(headers, envelope)).toEqual({
    headers: ['accept', 'x'],
    envelope: { ...envelope, flags: ['a-1', 'b-2'] },
    dropped: [],
  });
  expect(fillEnvelope(headers, { ...envelope, holdsBetas: false })).toEqual({
    headers: ['accept', 'x', 'anthropic-beta', 'a-1,b-2'],
    envelope: { ...envelope, holdsBetas: false, flags: [] },
    dropped: [],
  });
});

test('flags that a cloud would refuse the request for are left out, and said as far as they are flags', () => {
  const betas = new Map([
    ['a-1', 'a-1'],
    ['b-2', 'a-1'],
  ]);
  const headers = ['anthropic-beta', 'a-1,b-2', 'anthropic-beta', 'c-3, What is this?'];

  const filled = fillEnvelope(headers, { ...envelope, betas });

  expect(filled.envelope.flags).toEqual(['a-1']);
  expect(filled.dropped).toEqual(['header:anthropic-beta c-3', 'header:anthropic-beta']);
});
