import { expect, test } from 'vitest';
import { findEndpoint, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import { demandFinders } from '../../../src/gateway/spending/demand.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';

const { endpoint } = findEndpoint('/v1beta/models/gemini-test:generateContent') ?? {};
const surchargeOf = (body: unknown) =>
  demandFinders.surcharge(parseStrictJson(Buffer.from(JSON.stringify(body))), endpoint as ModelEndpoint);
const part = (each: unknown) => ({ contents: [{ parts: [each] }] });

test.each([
  ['a tier', { serviceTier: 'priority' }, 'serviceTier'],
  ['the same in snake case', { service_tier: 'priority' }, 'service_tier'],
  ['a cache, whose tokens are elsewhere', { cachedContent: 'cachedContents/1' }, 'cachedContent'],
  ['a file', part({ fileData: { fileUri: 'https://files.example/1' } }), 'fileUri'],
  ['audio', part({ inlineData: { mimeType: 'audio/wav', data: '' } }), 'audio'],
])('Gemini: %s costs more than the known price', (_name, body, member) => {
  expect(surchargeOf(body)).toBe(member);
});

test.each([
  ['the standard tier', { serviceTier: 'standard' }],
  ['an image of its own', part({ inlineData: { mimeType: 'image/png', data: '' } })],
])('Gemini: %s does not', (_name, body) => {
  expect(surchargeOf(body)).toBeUndefined();
});
