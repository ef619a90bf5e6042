import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useSandbox } from './clients.ts';

const clients = useSandbox();
const messages = [{ role: 'user' as const, content: 'what is the weather?' }];
const place = z.object({ city: z.string(), unit: z.enum(['celsius', 'kelvin']) });
const firstPlace = { city: 'sandbox', unit: 'celsius' };

test.each([false, true])(
  'the tool loop of openai calls the function and gets a text (stream: %s)',
  async (stream) => {
    const asked: unknown[] = [];
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'the weather of a city',
          parameters: z.toJSONSchema(place) as Record<string, unknown>,
          parse: (text: string) => place.parse(JSON.parse(text)),
          function: (input: z.infer<typeof place>) => {
            asked.push(input);
            return 'rain, 12 degrees';
          },
        },
      },
    ];
    const { completions } = clients().openai.chat;
    const body = { model: 'sandbox-tool', messages, tools };

    const runner = stream ? completions.runTools({ ...body, stream: true }) : completions.runTools(body);

    expect(await runner.finalContent()).toContain('rain, 12 degrees');
    expect(asked).toEqual([firstPlace]);
  },
);

test.each([false, true])(
  'the tool loop of Anthropic runs the tool and gets a text (stream: %s)',
  async (stream) => {
    const asked: unknown[] = [];
    const tool = betaZodTool({
      name: 'get_weather',
      description: 'the weather of a city',
      inputSchema: place,
      run: (input) => {
        asked.push(input);
        return 'rain, 12 degrees';
      },
    });
    const { anthropic } = clients();
    const body = { model: 'sandbox-tool', max_tokens: 1024, messages, tools: [tool] };

    const runner = stream
      ? anthropic.beta.messages.toolRunner({ ...body, stream: true })
      : anthropic.beta.messages.toolRunner(body);
    const message = await runner.runUntilDone();

    expect(message.content).toMatchObject([
      { type: 'text', text: expect.stringContaining('rain, 12 degrees') },
    ]);
    expect(asked).toEqual([firstPlace]);
  },
);

test('the parsing helpers of openai read structured output', async () => {
  const { openai } = clients();

  const chat = await openai.chat.completions.parse({
    model: 'sandbox-mini',
    messages,
    response_format: zodResponseFormat(place, 'place'),
  });
  const response = await openai.responses.parse({
    model: 'sandbox-mini',
    input: 'where?',
    text: { format: zodTextFormat(place, 'place') },
  });

  expect(chat.choices[0]?.message.parsed).toEqual(firstPlace);
  expect(response.output_parsed).toEqual(firstPlace);
});
