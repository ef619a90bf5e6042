import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { post, readEvents, startClients, weather, weatherSchema } from './clients.ts';

const { openai, url } = await startClients();
const hello = { model: 'sandbox-mini', input: 'hello 🌍' };
const tools = [{ type: 'function' as const, name: 'get_weather', parameters: weatherSchema, strict: true }];

describe('plain and streamed', () => {
  test('repeats the fields of the request', async () => {
    const fields = {
      instructions: 'be brief',
      temperature: 0.5,
      max_output_tokens: 900,
      metadata: { a: 'b' },
      store: false,
      tools,
      tool_choice: 'auto' as const,
      parallel_tool_calls: false,
      reasoning: { effort: 'low' as const },
    };

    const response = await openai.responses.create({ ...hello, ...fields });

    expect(response).toMatchObject({ ...fields, text: { format: { type: 'text' } }, truncation: 'disabled' });
  });

  test('accepts items, and uses their last user text', async () => {
    const response = await openai.responses.create({
      model: 'sandbox-mini',
      input: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: 'first' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'x', annotations: [] }],
        },
        { role: 'user', content: [{ type: 'input_text', text: 'second' }] },
      ],
    });

    expect(response.output_text).toContain('"second"');
  });

  test('sends the events in the order of the dialect, numbered', async () => {
    const { text, headers } = await post(`${url}/v1/responses`, { ...hello, stream: true });

    const events = readEvents(text);
    const types = events.map((event) => String(event.type));
    expect(types.filter((type, i) => type !== types[i - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
    expect([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual(types);
    expect(text).not.toContain('[DONE]');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });
});

test('the cap makes the response incomplete', async () => {
  const body = { ...hello, max_output_tokens: 3 };

  const plain = await openai.responses.create(body);
  const { text } = await post(`${url}/v1/responses`, { ...body, stream: true });

  expect(plain).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete', content: [{ text: 'The sandbox ' }] }],
  });
  expect(readEvents(text).at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: { incomplete_details: { reason: 'max_output_tokens' }, usage: { output_tokens: 3 } },
  });
});

describe('tools', () => {
  test('calls a custom tool with text, and a tool of a namespace by both names', async () => {
    const custom = [{ type: 'custom', name: 'note' }];
    const namespace = [
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'start', strict: null }] },
    ];

    const note = await post(`${url}/v1/responses`, {
      ...hello,
      model: 'sandbox-tool',
      tools: custom,
      stream: true,
    });
    const start = await post(`${url}/v1/responses`, { ...hello, model: 'sandbox-tool', tools: namespace });

    const types = readEvents(note.text).map((event) => event.type);
    expect(types).toContain('response.custom_tool_call_input.delta');
    expect(readEvents(note.text).at(-1)).toMatchObject({
      response: { output: [{ type: 'custom_tool_call', name: 'note', input: 'sandbox' }] },
    });
    expect(JSON.parse(start.text).output).toMatchObject([
      { type: 'function_call', name: 'start', namespace: 'agents' },
    ]);
  });
});

describe('structured output', () => {
  test('satisfies a JSON schema', async () => {
    const format = { type: 'json_schema' as const, name: 'weather', schema: weatherSchema };

    const response = await openai.responses.parse({ ...hello, text: { format } });

    expect(response.output_parsed).toEqual(weather);
    expect(response.text?.format).toEqual(format);
  });
});

describe('sandbox-think', () => {
  test('accepts its own output again', async () => {
    const first = await openai.responses.create({ ...hello, model: 'sandbox-think' });

    const second = await openai.responses.create({
      model: 'sandbox-think',
      input: [
        { role: 'user', content: 'hello' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user', content: 'more' },
      ],
    });

    expect(second.output_text).toContain('"more"');
  });
});
