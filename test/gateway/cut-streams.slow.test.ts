import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { chatEvents, dialectCases, messagesEvents, responsesEvents } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { anthropicClient, openaiClient, projects, type TestGateway } from '../kit/gateway.ts';
import type { ScriptedHost } from '../kit/host.ts';
import { useHosts } from '../kit/lifecycle.ts';

type Name = 'messages' | 'chat' | 'responses';

const atOnce = 12;

/** Breaks its connection off after so many bytes of the stream; which, the request's last word says. */
function scriptCuts(host: ScriptedHost, bytes: Buffer): void {
  host.script((response, request) => {
    const at = Number(/cut-at-(\d+)/.exec(request.body.toString())?.[1]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    if (at === 0) response.destroy();
    else response.write(bytes.subarray(0, at), () => response.destroy());
  });
}

/** Reads a whole stream with the official SDK: `complete`, or the class of its error. */
async function outcomeOf(open: Opener, at: number): Promise<string> {
  try {
    for await (const event of await open(`cut-at-${at}`)) void event;
    return 'complete';
  } catch (error) {
    const isApiError = error instanceof OpenAI.APIError || error instanceof Anthropic.APIError;
    const kind = (error as Error).constructor.name;
    return isApiError && !/Connection/.test(kind) ? kind : `${kind}: ${(error as Error).message}`;
  }
}

type Opener = (text: string) => PromiseLike<AsyncIterable<unknown>>;

function opener(gateway: TestGateway, name: Name, model: string): Opener {
  const claude = anthropicClient(gateway);
  const client = openaiClient(gateway);
  const turns = (content: string) => [{ role: 'user' as const, content }];
  switch (name) {
    case 'messages':
      return (text) => claude.messages.create({ model, max_tokens: 9, messages: turns(text), stream: true });
    case 'chat':
      return (text) => client.chat.completions.create({ model, messages: turns(text), stream: true });
    case 'responses':
      return (text) => client.responses.create({ model, input: text, stream: true });
  }
}

async function countOutcomes(gateway: TestGateway, name: Name, model: string, cuts: readonly number[]) {
  const counts: Record<string, number> = {};
  const open = opener(gateway, name, model);
  const waiting = [...cuts];
  const work = async () => {
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const outcome = await outcomeOf(open, at);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return counts;
}

const logged = vi.fn();

beforeEach(() => {
  logged.mockClear();
  for (const method of ['error', 'warn'] as const) vi.spyOn(console, method).mockImplementation(logged);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('a stream that its host cuts at every byte', () => {
  const setting = useHosts(() => undefined, twoHosts);

  test.each(dialectCases)(
    "of $dialect ends in the SDK's own API error",
    async ({ dialect, model, events }) => {
      const { gateway, anthropic, openai } = setting();
      const bytes = Buffer.from(events.join(''));
      scriptCuts(dialect === 'messages' ? anthropic : openai, bytes);
      const cuts = Array.from({ length: bytes.length }, (_each, at) => at);

      expect(await countOutcomes(gateway, dialect, model, cuts)).toEqual({ APIError: bytes.length });
      expect(logged).not.toHaveBeenCalled();
    },
    90_000, // hundreds of requests, on machines that have other things to do
  );
});

describe('a translated stream that its host cuts', () => {
  const hosts = ({ openai }: { openai: string }) => `
server:
  port: 0
providers:
  chat: { dialect: openai, base_url: "${openai}/v1", endpoints: [chat] }
  responses: { dialect: openai, base_url: "${openai}/v1", endpoints: [responses] }
  messages: { dialect: anthropic, base_url: "${openai}", endpoints: [messages] }
models:
  - { match: chat, provider: chat }
  - { match: responses, provider: responses }
  - { match: messages, provider: messages }
${projects}`;
  const setting = useHosts(() => undefined, hosts);
  const streams = { messages: messagesEvents, chat: chatEvents, responses: responsesEvents };
  const pairs = (['messages', 'chat', 'responses'] as const).flatMap((client) =>
    (['messages', 'chat', 'responses'] as const)
      .filter((host) => host !== client)
      .map((host) => [client, host] as const),
  );

  test.each(pairs)("for %s from %s ends in the SDK's own API error", async (client, host) => {
    const { gateway, openai } = setting();
    const bytes = Buffer.from(streams[host].join(''));
    scriptCuts(openai, bytes);
    const cuts = Array.from({ length: Math.ceil(bytes.length / 9) }, (_each, index) => index * 9);

    const { APIError = 0, complete = 0, ...others } = await countOutcomes(gateway, client, host, cuts);

    expect(others).toEqual({});
    expect(APIError + complete).toBe(cuts.length);
    expect(APIError).toBeGreaterThan(cuts.length / 2);
    expect(logged).not.toHaveBeenCalled();
  });
});
