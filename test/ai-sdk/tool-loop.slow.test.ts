import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { projects, startGateway, type TestGateway } from '../kit/gateway.ts';
import type { Vendor } from '../kit/strict/vendors.ts';
import {
  families,
  idOf,
  providerAt,
  startVendorHost,
  thoughtsBack,
  type VendorHost,
  whole,
} from '../kit/vendor-host.ts';

// Loops of four tool calls with thinking, of the AI SDK's providers, at hosts that refuse what their vendors refuse. Run by
// `npm run test:all`, which installs the packages of this folder.

const folder = join(import.meta.dirname, 'node_modules');
const isInstalled = existsSync(folder);
// biome-ignore lint/suspicious/noExplicitAny: its types would have to be installed for every check of types
type Sdk = any;
const load = (name: string): Promise<Sdk> => import(join(folder, name, 'dist', 'index.js'));

let gateway: TestGateway;
let hosts: Readonly<Record<string, VendorHost>>;
beforeAll(async () => {
  if (!isInstalled) return;
  const running = await Promise.all(
    Object.entries(families).map(async ([name, vendor]) => {
      const host = await startVendorHost(vendor, { isOfLoop: (sent) => sent.includes('get_weather') });
      return { name, vendor, host };
    }),
  );
  hosts = Object.fromEntries(running.map(({ name, host }) => [name, host]));
  gateway = await startGateway(`
providers:
${running.map(({ name, vendor, host }) => `  ${idOf(name)}: ${providerAt(name, vendor, host.url)}`).join('\n')}
models:
${running.map(({ name, vendor }) => `  - { match: at-${idOf(name)}, provider: ${idOf(name)}, model: ${vendor.model} }`).join('\n')}
${projects}`);
});

/** A model of the SDK, and the options with which it thinks. */
interface Client {
  readonly dialect: Vendor['dialect'];
  /** Hosts of whose thoughts the SDK itself sends nothing back: it has no slot for them, or one for several. */
  readonly drops?: readonly string[];
  /** Whether it does so with whole answers alone. */
  readonly keepsStreamed?: boolean;
  model(name: string): Promise<{ model: unknown; providerOptions: object }>;
}

const openai = async () =>
  (await load('@ai-sdk/openai')).createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });

const clients: Readonly<Record<string, Client>> = {
  'openai, store: false': {
    dialect: 'responses',
    model: async (model) => ({
      model: (await openai())(model),
      providerOptions: { openai: { store: false, reasoningEffort: 'high', forceReasoning: true } },
    }),
  },
  'openai.chat': {
    dialect: 'chat',
    drops: ['anthropic', 'gemini'],
    model: async (model) => ({ model: (await openai()).chat(model), providerOptions: {} }),
  },
  'openai-compatible': {
    dialect: 'chat',
    drops: ['anthropic'],
    model: async (model) => {
      const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
      const options = {
        name: 'gateway',
        baseURL: `${gateway.url}/v1`,
        apiKey: gateway.key,
        includeUsage: true,
      };
      return {
        model: createOpenAICompatible(options)(model),
        providerOptions: { gateway: { reasoningEffort: 'high' } },
      };
    },
  },
  anthropic: {
    dialect: 'messages',
    model: async (model) => {
      const { createAnthropic } = await load('@ai-sdk/anthropic');
      return {
        model: createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key })(model),
        providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
      };
    },
  },
  google: {
    dialect: 'gemini',
    drops: ['anthropic'],
    keepsStreamed: true,
    model: async (model) => {
      const { createGoogle, createGoogleGenerativeAI = createGoogle } = await load('@ai-sdk/google');
      return {
        model: createGoogleGenerativeAI({ baseURL: `${gateway.url}/v1beta`, apiKey: gateway.key })(model),
        providerOptions: { google: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } },
      };
    },
  },
};

async function loop(client: Client, name: string, isStream: boolean) {
  const { generateText, streamText, tool, stepCountIs, jsonSchema } = await load('ai');
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const request = {
    ...(await client.model(`at-${idOf(name)}`)),
    system: 'You are an agent.',
    prompt: 'What is the weather?',
    tools: {
      get_weather: tool({
        description: 'the weather of a city',
        inputSchema: jsonSchema(schema),
        execute: ({ city }: { city: string }) => `sunny in ${city}`,
      }),
    },
    stopWhen: stepCountIs(8),
    maxRetries: 0,
  };
  if (!isStream) {
    const { text, steps } = await generateText(request);
    return { text, steps };
  }
  let failure: unknown;
  const result = streamText({
    ...request,
    onError: ({ error }: { error: unknown }) => {
      failure = error;
    },
  });
  await result.consumeStream();
  if (failure !== undefined) throw failure;
  return { text: await result.text, steps: await result.steps };
}

const modes = [
  ['whole', false],
  ['streamed', true],
] as const;

describe.skipIf(!isInstalled).each(Object.entries(clients))('%s', (_client, client) => {
  describe.each(modes)('%s', (_mode, isStream) => {
    // OpenAI's host has Chat too, which passes as it is.
    const own = client.dialect === 'chat' ? ['chat', 'responses'] : [client.dialect];
    const translated = Object.keys(families).filter((name) => !own.includes(families[name]?.dialect ?? ''));
    test.each(translated)('at %s', async (name) => {
      const host = hosts[name] as VendorHost;
      host.sentBack();

      const { text, steps } = await loop(client, name, isStream);

      expect(host.refused).toEqual([]);
      expect(text).toBe('Said in turn 4.');
      expect(steps.map(({ finishReason }: Sdk) => finishReason)).toEqual([
        ...Array.from({ length: whole.results }, () => 'tool-calls'),
        'stop',
      ]);
      const isDropped = client.drops?.includes(name) === true && !(isStream && client.keepsStreamed === true);
      expect(host.sentBack()).toEqual({
        results: whole.results,
        thoughts: isDropped ? 0 : thoughtsBack(families[name] as Vendor),
      });
    });
  });
});

describe.skipIf(!isInstalled)('openai as it is by default', () => {
  test('at a translated host: the message says what to set', async () => {
    const client: Client = {
      dialect: 'responses',
      model: async (name) => ({ model: (await openai())(name), providerOptions: {} }),
    };

    await expect(loop(client, 'anthropic', false)).rejects.toThrow('store: false');
  });
});
