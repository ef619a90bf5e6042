import { expect, test } from 'vitest';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { readFields } from '../../../src/gateway/request.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { compile, subjectOf } from '../deciding.ts';

// In whatever form Google's parser takes it: both spellings, one object for a list of it, a request within a request.
// Places of a text in a turn: neighbours.test.ts.
const set = compile({
  house: {
    opaque_content: 'block',
    unseen_references: 'block',
    rules: [
      { id: 'p', action: 'block', when: { text: { phrases: ['project nightfall'] } } },
      { id: 'cap', action: 'block', when: { max_output_tokens: { over: 100 } } },
      {
        id: 'daylight',
        action: 'block',
        when: { text: { phrases: ['daylight'], in: ['user'] } },
        unless: { text: { phrases: ['daylight'], in: ['system'] } },
      },
      {
        id: 'tool',
        action: 'block',
        when: { tools: ['shell', 'google*search', 'code*execution'] },
      },
    ],
  },
}).select(['house']);
const u = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] });
const b64 = Buffer.from('about project nightfall').toString('base64');
// biome-ignore format: a case a line
const cases: Record<string, unknown> = {
  'with empty part': u({ text: 'project ' }, {}, { text: 'nightfall' }),
  'object contents': { contents: { parts: { text: 'project nightfall' } } },
  'inline unlabelled': u({ inlineData: { data: b64 } }),
  'inline url-safe': u({ inlineData: { mimeType: 'text/plain', data: Buffer.from('???about project nightfall>>>').toString('base64url') } }),
  'inline short unlabelled': u({ inlineData: { data: 'iVBORw0KGgo=' } }),
  'inline short unlabelled snake': u({ inline_data: { data: 'iVBORw0KGgo=' } }),
  'inline png': u({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }),
  'mime type': u({ inlineData: { mimeType: 'text/plain; x=project nightfall', data: '' } }),
  file: u({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }),
  'file snake': u({ file_data: { file_uri: 'gs://b/a' } }),
  cached: { cachedContent: 'cachedContents/a', ...u({ text: 'a' }) },
  'cached snake': { cached_content: 'cachedContents/a', ...u({ text: 'a' }) },
  'args key': u({ functionCall: { name: 'f', args: { 'project nightfall': 1 } } }),
  'args name': u({ functionCall: { name: 'project nightfall' } }),
  'response image': u({ functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] } }),
  'signature plain': u({ text: 'a', thoughtSignature: 'project nightfall' }),
  schema: { ...u({ text: 'a' }), generationConfig: { responseSchema: { description: 'project nightfall' } } },
  'schema json': { ...u({ text: 'a' }), generation_config: { response_json_schema: { enum: ['project nightfall'] } } },
  'retrieval': { ...u({ text: 'a' }), tools: [{ retrieval: { vertexAiSearch: { datastore: 'project nightfall' } } }] },
  'file search': { ...u({ text: 'a' }), tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/a'] } }] },
  'file search snake': { ...u({ text: 'a' }), tools: [{ file_search: { file_search_store_names: ['fileSearchStores/a'] } }] },
  'rag': { ...u({ text: 'a' }), tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: 'projects/a/ragCorpora/b' }] } } }] },
  'rag corpora': { ...u({ text: 'a' }), tools: [{ retrieval: { vertexRagStore: { ragCorpora: ['projects/a/ragCorpora/b'] } } }] },
  'rag corpora snake': { ...u({ text: 'a' }), tools: [{ retrieval: { vertex_rag_store: { rag_corpora: ['projects/a/ragCorpora/b'] } } }] },
  'external API': { ...u({ text: 'a' }), tools: [{ retrieval: { externalApi: { endpoint: 'https://example.org' } } }] },
  'external API snake': { ...u({ text: 'a' }), tools: [{ retrieval: { external_api: { endpoint: 'https://example.org' } } }] },
  'signature': u({ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }),
  'signature snake': u({ text: 'a', thought_signature: 'c2ln' }),
  'tool of chat': { ...u({ text: 'a' }), tools: [{ type: 'function', function: { name: 'shell' } }] },
  'tool of messages': { ...u({ text: 'a' }), tools: [{ name: 'shell', input_schema: {} }] },
  'tool of responses': { ...u({ text: 'a' }), tools: [{ type: 'shell' }] },
  'server of responses': { ...u({ text: 'a' }), tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://e.com' }] },
  'toolset of messages': { ...u({ text: 'a' }), tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] },
  'tool in a list': { ...u({ text: 'a' }), tools: [{ tools: [{ name: 'shell' }] }] },
  'maps': { ...u({ text: 'a' }), toolConfig: { retrievalConfig: { languageCode: 'project nightfall' } } },
  'cap snake': { ...u({ text: 'a' }), generation_config: { max_output_tokens: 101 } },
  'cap mixed': { ...u({ text: 'a' }), generationConfig: { max_output_tokens: 101 } },
  'cap text': { ...u({ text: 'a' }), generationConfig: { maxOutputTokens: '101' } },
  'tool search snake': { ...u({ text: 'a' }), tools: [{ google_search: {} }] },
  'computer mcp': { ...u({ text: 'a' }), tools: [{ mcpServers: [{ name: 'shell' }] }] },
  'count request glued': { generateContentRequest: { model: 'models/m', ...u({ text: 'project night' }, { text: 'fall' }) } },
  'count request with its system behind': { generateContentRequest: { ...u({ text: 'fall it is' }), system_instruction: { parts: [{ text: 'project night' }] } } },
  'count request inline': { generateContentRequest: { model: 'models/m', ...u({ inlineData: { mimeType: 'text/plain', data: b64 } }) } },
};
// biome-ignore format: a case a line
const emb: Record<string, unknown> = {
  one: { content: { parts: [{ text: 'project ' }, { text: 'nightfall' }] } },
  glued: { content: { parts: [{ text: 'project night' }, { text: 'fall' }] } },
  batch: { requests: [{ model: 'models/m', content: { parts: [{ text: 'project ' }, { text: 'nightfall' }] } }] },
  'batch glued': { requests: [{ model: 'models/m', content: { parts: [{ text: 'project night' }, { text: 'fall' }] } }] },
  title: { content: { parts: [{ text: 'a' }] }, title: 'project nightfall' },
  'title before': { title: 'project night', content: { parts: [{ text: 'fall it is' }] } },
  'title behind': { content: { parts: [{ text: 'fall it is' }] }, title: 'project night' },
  'title in a batch': { requests: [{ content: { parts: [{ text: 'nightfall' }] }, title: 'project' }] },
  'title in settings': { content: { parts: [{ text: 'nightfall' }] }, embedContentConfig: { title: 'project' } },
  'title in settings, snake': { embed_content_config: { task_type: 'RETRIEVAL_DOCUMENT', title: 'project' }, content: { parts: [{ text: 'nightfall' }] } },
  'text of the user': { requests: [{ content: { parts: [{ text: 'daylight' }] } }] },
  inline: { content: { parts: [{ inlineData: { mimeType: 'text/plain', data: b64 } }] } },
  png: { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] } },
};
const all = [
  ...Object.entries(cases).map(([name, body]) => ['gemini', name, body] as const),
  ...Object.entries(emb).map(([name, body]) => ['gemini_embeddings', name, body] as const),
];

test.each(all)('%s: %s is found', (endpoint, _name, body) => {
  const document = parseStrictJson(Buffer.from(JSON.stringify(body)));

  const decision = set.decide({ ...subjectOf({}), document, dialect: dialects[endpoint], endpoint });

  expect(decision.action).toBe('block');
});

// biome-ignore format: a case a line
const harmless: readonly (readonly [DialectName, string, unknown])[] = [
  ['gemini_embeddings', 'a model before a text', { requests: [{ model: 'models/project', content: { parts: [{ text: 'nightfall' }] } }] }],
  ['gemini_embeddings', 'a task before a text', { requests: [{ taskType: 'project', content: { parts: [{ text: 'nightfall' }] } }] }],
  ['gemini_embeddings', 'two models', { requests: [{ model: 'project', content: { parts: [{ text: 'a' }] } }, { model: 'nightfall', content: { parts: [{ text: 'b' }] } }] }],
  ['gemini', 'a model before a text that is counted', { generateContentRequest: { model: 'models/project', ...u({ text: 'nightfall' }) } }],
  ['gemini', "Google's word for a call without a signature", u({ functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' })],
  ['gemini', 'short bytes that are text', u({ inlineData: { data: 'aGVsbG8=' } })],
];

test.each(harmless)('%s: %s is not', (endpoint, _name, body) => {
  const document = parseStrictJson(Buffer.from(JSON.stringify(body)));

  const decision = set.decide({ ...subjectOf({}), document, dialect: dialects[endpoint], endpoint });

  expect(decision.action).toBe('allow');
});

test.each([
  ['another model', { model: 'models/other', ...u({ text: 'a' }) }, 'another model'],
  ['none of the contents', {}, 'contents is missing'],
  ['keys that differ in case', { Contents: [], ...u({ text: 'a' }) }, 'only in case'],
])('a request within a request with %s is refused', (_name, generateContentRequest, message) => {
  const document = parseStrictJson(Buffer.from(JSON.stringify({ generateContentRequest })));

  expect(() => readFields(document, dialects.gemini, { model: 'm', stream: false })).toThrow(message);
});
