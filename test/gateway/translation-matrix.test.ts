import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../src/dialects/registry.ts';
import { plainAnswers, text as plainText } from '../dialects/translation/plain-answers.ts';
import { json, pathFor, stream } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { marks, type Option } from '../kit/conversations.ts';
import { textDialects } from '../kit/dialects.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import type { Script } from '../kit/host.ts';
import { recordedStream } from '../kit/recorded-streams.ts';
import { scale } from '../kit/scale.ts';
import { askBySdk, type Outcome } from '../kit/sdk-outcome.ts';
import { startStrictHost } from '../kit/strict-host.ts';

// Every client at every provider: what the official SDKs send reaches a host that answers 400 to anything
// malformed, and what the host says is what the SDK understands, whichever dialect lies between.

const pairs = textDialects.flatMap((client) => textDialects.map((provider) => ({ client, provider })));
const forms = [
  { form: 'plain', isStream: false },
  { form: 'streamed', isStream: true },
] as const;

const host = await startStrictHost();
const gateway = await startGateway(`
providers:
${providersAt(host.url)}
models:
${modelsAt('at-', { model: 'sandbox-mini' })}
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

const streamedText = 'Grüße aus dem 🌿-Haus:\n“フィカス” wächst.';
const koeln = { name: 'get_weather', input: { city: 'Köln 🏰', days: 3 } };
const bonn = { name: 'get_weather', input: { city: 'Bonn' } };
const usage = { inputTokens: 120, cachedTokens: 40, outputTokens: 25 };
const structured = '{"name":"Ficus","tags":["indoor"]}';

interface Scenario {
  readonly name: string;
  readonly option: Option;
  /** The recorded stream, and the whole answer of the same kind. */
  readonly recording: string;
  readonly plain: keyof (typeof plainAnswers)['chat'] | 'structured';
  readonly streamed: Omit<Outcome, keyof typeof usage>;
  /** Where the whole answer says something else than the stream. */
  readonly whole?: Partial<Outcome>;
}

const said = { text: streamedText, thinking: '', calls: [], finish: 'stop' } as const;
const called = { text: '', thinking: '', finish: 'tools' } as const;

// biome-ignore format: a case a line
const scenarios: readonly Scenario[] = [
  { name: 'text', option: 'text', recording: 'text', plain: 'text', streamed: said, whole: { text: plainText } },
  { name: 'one tool', option: 'tools', recording: 'one-tool', plain: 'one tool', streamed: { ...called, calls: [koeln] } },
  { name: 'two parallel tools', option: 'tools', recording: 'two-tools', plain: 'two tools', streamed: { ...called, calls: [koeln, bonn] } },
  { name: 'a tool result turn', option: 'tool result', recording: 'text', plain: 'text', streamed: said, whole: { text: plainText } },
  { name: 'an image', option: 'image', recording: 'text', plain: 'text', streamed: said, whole: { text: plainText } },
  {
    name: 'thinking',
    option: 'thinking',
    recording: 'thinking',
    plain: 'thinking',
    streamed: { ...said, thinking: 'The user asks about plants… 🤔' },
    whole: { text: plainText, thinking: 'The user asks about plants…' },
  },
  { name: 'structured output', option: 'structured', recording: 'structured', plain: 'structured', streamed: { ...said, text: structured } },
  {
    name: 'a length stop',
    option: 'text',
    recording: 'length',
    plain: 'length',
    streamed: { ...said, text: 'Grüße aus dem 🌿', finish: 'length' },
    whole: { text: plainText },
  },
  {
    name: 'a refusal',
    option: 'text',
    recording: 'refusal',
    plain: 'refusal',
    streamed: { ...said, text: 'I can not help with that.', finish: 'refusal' },
    whole: { text: 'No.' },
  },
];

describe.each(pairs)('a $client client at a $provider provider', ({ client, provider }) => {
  const model = `at-${provider}`;

  describe.each(forms)('$form', ({ isStream }) => {
    const ask = (option: Option) => askBySdk(gateway, { client, model, option, isStream });

    // Each at half of the pairs and each pair with half of them, or all.
    const offset = textDialects.indexOf(client) + textDialects.indexOf(provider);
    const tried = scenarios.filter((_, at) => scale((at + offset) % 2, 0) === 0);

    test.each(tried)('$name', async ({ name, option, recording, plain, streamed, whole }) => {
      host.script(isStream ? recorded(provider, recording) : json(wholeAnswer(provider, plain)));

      const recordsBefore = gateway.records.length;

      const outcome = await ask(option);

      const request = host.requests.at(-1);
      // A client may have read its answer's last event before the gateway has written the record.
      await expect.poll(() => gateway.records.length).toBeGreaterThan(recordsBefore);
      const record = gateway.records.at(-1);
      // This host says "stop" although it calls a tool; untouched means that its clients read that.
      const quirk = client === 'chat' && provider === 'chat' && !isStream && name === 'one tool';
      const expected = { ...usage, ...streamed, ...(isStream ? {} : whole) };
      expect(outcome).toEqual(quirk ? { ...expected, finish: 'stop' } : expected);
      expect(request?.target).toBe(pathFor(provider, 'sandbox-mini', isStream));
      for (const mark of marks[option]) expect(request?.body.toString()).toContain(mark);
      expect(record).toMatchObject({
        outcome: 'answered',
        body: client === provider ? ownBody[client] : 'translated',
        provider,
        target_model: 'sandbox-mini',
        usage: { input_tokens: 120, output_tokens: 25, cache_read_tokens: 40 },
      });
    });

    test('a cut answer', async () => {
      host.script(isStream ? recorded(provider, 'cut') : json('{"id":"msg_1","type":"mess'));

      const error = await errorOf(ask('text'));

      expect(error).toBeInstanceOf(Error);
      if (isStream) expect(gateway.records.at(-1)).toMatchObject({ status: 200, outcome: 'failed' });
      else expect(error).toMatchObject({ status: 502 });
      expect(gateway.records.at(-1)).toMatchObject({ reason: 'provider.broken_response' });
    });
  });

  test('an error in mid-stream', async () => {
    host.script(recorded(provider, 'error'));

    const error = await errorOf(askBySdk(gateway, { client, model, option: 'text', isStream: true }));

    expect(error).toBeInstanceOf(Error);
    // OpenAI's SDK takes `response.failed` for an event like any other and then finds no end.
    if (client !== 'responses') expect(String(error)).toMatch(/overloaded|model failed/i);
  });
});

/** What splices the target's name into a body of the provider's dialect, unless it is in the path. */
const ownBody = { messages: 'spliced', chat: 'spliced', responses: 'spliced', gemini: 'exact' } as const;

/** A recorded stream in pieces that cut events and characters. */
function recorded(provider: TextDialectName, scenario: string): Script {
  const bytes = recordedStream(`${provider}.${scenario}`);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 97) pieces.push(bytes.subarray(at, at + 97));
  return stream(pieces);
}

function wholeAnswer(provider: TextDialectName, plain: Scenario['plain']): string {
  if (plain !== 'structured') return JSON.stringify(plainAnswers[provider][plain]);
  return JSON.stringify(plainAnswers[provider].text).replace(
    plainText,
    JSON.stringify(structured).slice(1, -1),
  );
}

const errorOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

test('the provider’s key was sent in its own header, and reached no client', () => {
  const key = secrets.PROVIDER_KEY;
  for (const { target, headers } of host.requests) {
    if (target === '/v1/messages') expect(headers).toContainEqual(['x-api-key', key]);
    else if (target.startsWith('/v1beta/')) expect(headers).toContainEqual(['x-goog-api-key', key]);
    else expect(headers).toContainEqual(['authorization', `Bearer ${key}`]);
  }
});
