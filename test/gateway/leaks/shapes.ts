import { isText } from '../../../src/dialects/dialect.ts';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import {
  bytesSlot,
  digestOf,
  openThought,
  sealText,
  signedText,
} from '../../../src/dialects/translation/seals.ts';
import { documentedFieldsOf } from '../../dialects/translation/documented-fields.ts';
import { probeOf } from '../../dialects/translation/field-probes.ts';
import { originAt } from '../../kit/config.ts';
import type { ProviderForm } from '../../kit/forms.ts';

export type Body = Readonly<Record<string, unknown>>;

const pixel = 'iVBORw0KGgo=';
const plain = Buffer.from('plain text').toString('base64');
const call = {
  type: 'tool_use',
  id: 'call_1',
  name: 'look_up',
  input: { place: 'here', deeper: [{ unit: 'c' }] },
};
const thinking = { type: 'thinking', thinking: 'thoughts', signature: 'sig' };
const file = { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: plain } };
const pdf = {
  type: 'base64',
  media_type: 'application/pdf',
  data: Buffer.from('%PDF-1.4\n1 0 obj\n<</Type /Page>>\nendobj\n').toString('base64'),
};
const pdfUrl = `data:application/pdf;base64,${pdf.data}`;
const schema = {
  type: 'object',
  description: 'an object',
  properties: { place: { type: 'string', description: 'a place' } },
};

/** What its host signed or encrypted, in each seal of the conversations. */
export const sealedData = 'c2lnbmVk';
/** What each provider of the generators has sealed for a thought. */
const sealedBy: Readonly<Record<string, (thought: string) => string>> = {
  ...{ messages: signed, bedrock: signed, vertex: signed },
  ...{ gemini: () => sealedData, vertex_gemini: () => sealedData },
  chat: (thought) =>
    JSON.stringify({
      digest: digestOf(thought),
      details: [{ type: 'reasoning.encrypted', data: sealedData, id: 'call_1' }],
    }),
  responses: () => JSON.stringify({ id: 'rs_1', encrypted_content: sealedData }),
};

function signed(thought: string): string {
  return signedText(digestOf(thought), sealedData);
}

/** The thoughts of a turn that has been at every provider, one after the other, and at one that signs none. */
function thoughtsAt(url: string) {
  const sealed = Object.entries(sealedBy).map(([form, seal]) => {
    const text = `thought at ${form}`;
    const origin = originAt(url, form as ProviderForm);
    return { text, seal: sealText({ of: 'thought', data: seal(text) }, { origin }) };
  });
  return [...sealed, { text: 'thought at another', seal: openThought }];
}

/** Conversations in which a translation joins, moves, drops and decodes; every block type of the dialect. */
function conversationsAt(url: string): Readonly<Record<DialectName, readonly Body[]>> {
  const thoughts = thoughtsAt(url);
  const sealOfCall = sealText({ of: 'call', data: sealedData }, { origin: originAt(url, 'gemini') });
  return {
    messages: [
      {
        max_tokens: 64,
        system: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
        // biome-ignore format: a case a line
        messages: [
        { role: 'user', content: [{ type: 'text', text: 'three' }, { type: 'text', text: 'four' }] },
        { role: 'user', content: 'five' },
        { role: 'assistant', content: [{ type: 'text', text: 'six' }, thinking, { type: 'text', text: 'seven' }, call] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'eight' },
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'nine' }, { type: 'text', text: 'ten' }] },
            { type: 'text', text: 'eleven' },
          ],
        },
        { role: 'system', content: 'twelve' },
        { role: 'user', content: 'thirteen' },
      ],
        tools: [{ name: 'look_up', description: 'looks up', input_schema: schema }],
        stop_sequences: ['halt'],
        metadata: { user_id: 'somebody' },
      },
      {
        max_tokens: 64,
        // biome-ignore format: a case a line
        messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'before' },
            { ...file, title: 'a title', context: 'a context' },
            { type: 'text', text: 'between' },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a document' }, title: 'its title' },
            { type: 'document', source: pdf, title: 'a report', context: 'its context' },
            { type: 'search_result', source: 'https://example.org', title: 'a result', content: [{ type: 'text', text: 'found' }] },
            { type: 'image', source: { type: 'url', url: 'https://example.org/picture.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            { type: 'text', text: 'after' },
          ],
        },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'data' }, call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: 'failed' }, { type: 'text', text: 'last' }] },
      ],
      },
      {
        max_tokens: 64,
        // biome-ignore format: a case a line
        messages: [
        { role: 'user', content: 'one' },
        {
          role: 'assistant',
          content: [
            ...thoughts.map(({ text, seal }) => ({ type: 'thinking', thinking: text, signature: seal })),
            { type: 'redacted_thinking', data: sealOfCall },
            call,
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'tool_reference', tool_name: 'look_up' }] }, { type: 'text', text: 'two' }] },
      ],
        tools: [{ name: 'look_up', description: 'looks up', input_schema: schema, defer_loading: true }],
      },
    ],
    chat: [
      {
        // biome-ignore format: a case a line
        messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: [{ type: 'text', text: 'two' }, { type: 'text', text: 'three' }] },
        { role: 'user', name: 'somebody', content: [{ type: 'text', text: 'four' }, { type: 'text', text: 'five' }] },
        { role: 'user', content: 'six' },
        {
          role: 'assistant',
          content: 'seven',
          reasoning_content: 'thoughts',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"place":"here"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'eight' },
        { role: 'user', content: 'nine' },
        { role: 'assistant', content: 'ten' },
        { role: 'assistant', refusal: 'eleven', content: null },
        { role: 'system', content: 'twelve' },
        { role: 'user', content: 'thirteen' },
      ],
        tools: [
          { type: 'function', function: { name: 'look_up', description: 'looks up', parameters: schema } },
        ],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', description: 'an answer', schema },
        },
        user: 'somebody',
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'before' },
              { type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${plain}` } },
              { type: 'text', text: 'between' },
              { type: 'file', file: { filename: 'a.pdf', file_data: pdfUrl } },
              { type: 'image_url', image_url: { url: 'https://example.org/picture.png', detail: 'low' } },
              { type: 'text', text: 'after' },
            ],
          },
        ],
      },
      {
        // biome-ignore format: a case a line
        messages: [
        { role: 'user', content: 'one' },
        ...thoughts.map(({ text, seal }) => ({ role: 'assistant', content: 'two', reasoning_content: text, reasoning_details: [{ type: 'reasoning.encrypted', data: seal }] })),
        {
          role: 'assistant',
          content: null,
          reasoning: 'thoughts',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"place":"here"}' }, extra_content: { google: { thought_signature: sealOfCall } } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'three' },
      ],
        tools: [
          { type: 'function', function: { name: 'look_up', description: 'looks up', parameters: schema } },
        ],
      },
    ],
    responses: [
      {
        instructions: 'one',
        // biome-ignore format: a case a line
        input: [
        { role: 'system', content: 'two' },
        { role: 'developer', content: [{ type: 'input_text', text: 'three' }, { type: 'input_text', text: 'four' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'five' }, { type: 'input_text', text: 'six' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'seven', annotations: [] }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'thoughts' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'eight', annotations: [] }, { type: 'refusal', refusal: 'nine' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"place":"here"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'ten' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'a patch' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'patched' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'before' },
            { type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${plain}` },
            { type: 'input_text', text: 'between' },
            { type: 'input_file', filename: 'a.pdf', file_data: pdfUrl },
            { type: 'input_image', image_url: 'https://example.org/picture.png', detail: 'low' },
            { type: 'input_text', text: 'after' },
          ],
        },
        { role: 'user', content: 'eleven' },
        { role: 'user', content: 'twelve' },
      ],
        tools: [
          { type: 'function', name: 'look_up', description: 'looks up', parameters: schema, strict: false },
          { type: 'custom', name: 'patch', description: 'patches' },
          {
            type: 'namespace',
            name: 'agents',
            tools: [{ type: 'function', name: 'start', description: 'starts', parameters: schema }],
          },
        ],
        text: { format: { type: 'json_schema', name: 'answer', description: 'an answer', schema } },
        metadata: { note: 'a note' },
      },
      { input: 'only a text', instructions: 'and instructions' },
      {
        // biome-ignore format: a case a line
        input: [
        { role: 'user', content: 'one' },
        ...thoughts.map(({ text, seal }, at) => ({ type: 'reasoning', id: `rs_${at}`, summary: [{ type: 'summary_text', text }], encrypted_content: seal })),
        { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealOfCall },
        { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"place":"here"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'two' },
        { type: 'tool_search_call', call_id: 'call_2', execution: 'client', arguments: { query: 'three' } },
        { type: 'tool_search_output', call_id: 'call_2', execution: 'client', tools: [{ type: 'function', name: 'start', description: 'starts', parameters: schema }] },
        { role: 'user', content: 'four' },
      ],
        tools: [
          { type: 'function', name: 'look_up', description: 'looks up', parameters: schema, strict: false },
        ],
      },
    ],
    gemini: [
      {
        systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
        // biome-ignore format: a case a line
        contents: [
        { role: 'user', parts: [{ text: 'three' }, { text: 'four' }] },
        { role: 'user', parts: [{ text: 'five' }] },
        { role: 'model', parts: [{ text: 'thoughts', thought: true }, { text: 'six' }, { functionCall: { id: 'call_1', name: 'look_up', args: { place: 'here', deeper: [{ unit: 'c' }] } }, thoughtSignature: 'c2ln' }] },
        { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'look_up', response: { output: 'seven' } } }, { text: 'eight' }] },
        { role: 'user', parts: [{ text: 'nine' }] },
      ],
        tools: [{ functionDeclarations: [{ name: 'look_up', description: 'looks up', parameters: schema }] }],
        generationConfig: { maxOutputTokens: 64, stopSequences: ['halt'] },
      },
      {
        // biome-ignore format: a case a line
        contents: [
        { role: 'user', parts: [{ text: 'before' }, { inlineData: { mimeType: 'text/plain', data: plain, displayName: 'a.txt' } }, { text: 'between' }, { inlineData: { mimeType: 'application/pdf', data: pdf.data, displayName: 'a.pdf' } }, { fileData: { mimeType: 'image/png', fileUri: 'https://example.org/picture.png' } }, { text: 'after' }] },
        { role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: 'print()' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'done' } }] },
        { role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: pixel } }, { text: 'last' }] },
      ],
        generation_config: { response_mime_type: 'application/json', response_schema: schema },
      },
      {
        // biome-ignore format: a case a line
        contents: [
        { role: 'user', parts: [{ text: 'one' }] },
        {
          role: 'model',
          parts: [
            ...thoughts.map(({ text, seal }) => ({ text, thought: true, thoughtSignature: bytesSlot.write(seal) })),
            { functionCall: { id: 'call_1', name: 'look_up', args: { place: 'here' } }, thoughtSignature: bytesSlot.write(sealOfCall) },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'look_up', response: { output: 'two' } } }] },
      ],
        tools: [{ functionDeclarations: [{ name: 'look_up', description: 'looks up', parameters: schema }] }],
      },
    ],
    embeddings: [{ input: 'a text', user: 'somebody' }, { input: ['one', 'two'] }],
    gemini_embeddings: [
      { content: { parts: [{ text: 'one' }, { text: 'two' }] }, title: 'a title' },
      { requests: [{ content: { parts: [{ text: 'one' }] } }, { content: { parts: [{ text: 'two' }] } }] },
    ],
  };
}

const small: Readonly<Record<DialectName, Body>> = {
  messages: { max_tokens: 64, messages: [{ role: 'user', content: 'hello' }] },
  chat: { messages: [{ role: 'user', content: 'hello' }] },
  responses: { input: 'hello' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  embeddings: { input: 'hello' },
  gemini_embeddings: { content: { parts: [{ text: 'hello' }] } },
};

/** Shapes of requests to providers at a host: one for each row of docs/translation.md, and the conversations above. */
export function shapesOf(client: DialectName, url: string): readonly Body[] {
  const dialect = dialects[client];
  const rows = isText(dialect) ? documentedFieldsOf(client) : [];
  const probed = rows.map((row): Body => {
    const { base, set } = probeOf(client, row);
    return { ...small[client], ...base, ...set };
  });
  const all = [...conversationsAt(url)[client], small[client], ...probed].map((body) => ({
    ...body,
    model: 'x',
  }));
  return [...new Map(all.map((body) => [JSON.stringify(body), body])).values()];
}
