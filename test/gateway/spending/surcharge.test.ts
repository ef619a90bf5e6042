import { expect, test } from 'vitest';
import { findEndpoint, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import { findDemand, findSurchargedMode } from '../../../src/gateway/spending/demand.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';

const surchargeOf = (body: unknown) => findSurchargedMode(parseStrictJson(Buffer.from(JSON.stringify(body))));
const part = (each: unknown) => ({ contents: [{ parts: [each] }] });

const saying = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
const cached = (ttl: string) =>
  saying({ type: 'text', text: 'hi', prompt_cache_breakpoint: { mode: 'explicit', ttl } });
const calls = (tool: object) => ({ tools: [tool] });

// biome-ignore format: a case a line
test.each([
  ['a tier of Google', { serviceTier: 'priority' }, 'serviceTier'],
  ['a tier', { service_tier: 'priority' }, 'service_tier'],
  ['a tier that is none', { service_tier: ['priority'] }, 'service_tier'],
  ['a speed', { speed: 'fast', service_tier: 'default' }, 'speed'],
  ['one region', { inference_geo: 'us' }, 'inference_geo'],
  ['a cache, whose tokens are elsewhere', { cachedContent: 'cachedContents/1' }, 'cachedContent'],
  ['a cache of twelve hours', { prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl'],
  ['a text that is kept as long', cached('12h'), 'prompt_cache_breakpoint.ttl'],
  ['an answer in sound', { modalities: ['text', 'audio'] }, 'modalities'],
  ["an answer in Google's sound", { generationConfig: { responseModalities: ['TEXT', 'AUDIO'] } }, 'generationConfig.responseModalities'],
  ['an answer in pictures', { generation_config: { response_modalities: 'IMAGE' } }, 'generation_config.response_modalities'],
  ['a question in sound', saying({ type: 'input_audio', input_audio: { data: '', format: 'wav' } }), 'input_audio'],
  ['a search', { web_search_options: {} }, 'web_search_options'],
  ['a file', part({ fileData: { fileUri: 'https://files.example/1' } }), 'fileUri'],
  ['audio of Google', part({ inlineData: { mimeType: 'audio/wav', data: '' } }), 'audio'],
])('%s costs more than the known price', (_name, body, member) => {
  expect(surchargeOf(body)).toBe(member);
});

// biome-ignore format: a case a line
test.each([
  ['the standard tier', { serviceTier: 'standard' }],
  ['a tier that costs less', { service_tier: 'flex' }],
  ['every region', { inference_geo: 'global' }],
  ['the usual cache', { prompt_cache_options: { mode: 'explicit', ttl: '30m' } }],
  ['a text that is kept as long', cached('30m')],
  ['an answer in text', { modalities: ['text'] }],
  ["an answer in Google's text", { generationConfig: { responseModalities: ['TEXT'] } }],
  ['a function', calls({ type: 'function', function: { name: 'f' } })],
  ['an image of its own', part({ inlineData: { mimeType: 'image/png', data: '' } })],
])('%s does not', (_name, body) => {
  expect(surchargeOf(body)).toBeUndefined();
});

const endpoint = findEndpoint('/v1beta/models/m:generateContent')?.endpoint as ModelEndpoint;
const feesOf = (tools: unknown) =>
  findDemand(parseStrictJson(Buffer.from(JSON.stringify({ contents: [], tools }))), endpoint).fees;

test.each([
  [{ googleMaps: {} }, 'googleMaps'],
  [[{ functionDeclarations: [] }, { google_maps: {} }], 'google_maps'],
  [[{ fileSearch: {} }], 'fileSearch'],
  [[{ toolOfTomorrow: {} }], 'toolOfTomorrow'],
  [[{ type: 'tool_of_tomorrow' }], 'tool_of_tomorrow'],
])("a tool of Google's that is charged by the use is unpriced: %j", (tools, name) => {
  expect(feesOf(tools)).toEqual({ searches: 0, unpriced: name });
});

test.each([
  [[{ functionDeclarations: [{ name: 'f' }], codeExecution: {}, url_context: {} }], 0],
  [{ googleSearch: {} }, 20],
  [[{ google_search_retrieval: {} }], 20],
  [[{ name: 'shell', input_schema: {}, description: '' }], 0],
])('the fees of %j are known', (tools, searches) => {
  expect(feesOf(tools)).toEqual({ searches, unpriced: undefined });
});
