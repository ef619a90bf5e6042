import { expect, test } from 'vitest';
import { post, readEvents, startClients } from './clients.ts';

const { url } = await startClients();
const hello = { model: 'sandbox-mini', input: 'hello 🌍' };

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

test('calls a custom tool with text', async () => {
  const tools = [{ type: 'custom', name: 'note' }];

  const { text } = await post(`${url}/v1/responses`, {
    ...hello,
    model: 'sandbox-tool',
    tools,
    stream: true,
  });

  const events = readEvents(text);
  expect(events.map((event) => event.type)).toContain('response.custom_tool_call_input.delta');
  expect(events.at(-1)).toMatchObject({
    response: { output: [{ type: 'custom_tool_call', name: 'note', input: 'sandbox' }] },
  });
});
