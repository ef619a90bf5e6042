import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { GatewayError } from '../../../src/errors.ts';
import { directions, textDialects } from '../../kit/dialects.ts';
import { recordedStream } from '../../kit/recorded-streams.ts';
import { scale } from '../../kit/scale.ts';
import { readStrictly } from './read-strictly.ts';
import { runFixture, runStream, sseOf, startTranslation } from './run-translation.ts';
import type { Outcome } from './strictly/outcome.ts';

const text = 'Grüße aus dem 🌿-Haus:\n“フィカス” wächst.';
const thought = 'The user asks about plants… 🤔';
const koeln = { name: 'get_weather', input: { city: 'Köln 🏰', days: 3 } };
const bonn = { name: 'get_weather', input: { city: 'Bonn' } };
const nothing = { thinking: '', text: '', refusal: '', calls: [], error: null };

const finishes: Record<TextDialectName, Record<'stop' | 'calls' | 'length', string>> = {
  messages: { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens' },
  chat: { stop: 'stop', calls: 'tool_calls', length: 'length' },
  responses: { stop: 'completed', calls: 'completed', length: 'incomplete: max_output_tokens' },
  gemini: { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS' },
};

/** What providers of the dialect wrote into their caches; Google has no such count. */
const cacheWrites = { messages: 10, chat: 10, responses: 10, gemini: 0 } satisfies Record<
  TextDialectName,
  number
>;

const usages: Record<TextDialectName, (reasoning: number, cacheWrites: number) => object> = {
  messages: (reasoning, written) => ({
    input_tokens: 80 - written,
    output_tokens: 25,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: 40,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
  }),
  chat: (reasoning, written) => ({
    prompt_tokens: 120,
    completion_tokens: 25,
    total_tokens: 145,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }),
  responses: (reasoning, written) => ({
    input_tokens: 120,
    input_tokens_details: { cached_tokens: 40, cache_write_tokens: written },
    output_tokens: 25,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: 145,
  }),
  gemini: (reasoning) => ({
    promptTokenCount: 120,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 25 - reasoning,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: 145,
  }),
};

const brokenResponse = expect.objectContaining({ code: 'provider.broken_response' });
const wanted = ({ text: said, calls, finish }: Outcome) => ({ said, calls, finish });

const scenarios = [
  { name: 'text', finish: 'stop', outcome: { ...nothing, text } },
  { name: 'one-tool', finish: 'calls', outcome: { ...nothing, calls: [koeln] } },
  { name: 'one-tool-whole', finish: 'calls', outcome: { ...nothing, calls: [koeln] } },
  { name: 'text-then-tool', finish: 'calls', outcome: { ...nothing, text, calls: [koeln] } },
  { name: 'two-tools', finish: 'calls', outcome: { ...nothing, calls: [koeln, bonn] } },
  {
    name: 'tool-no-arguments',
    finish: 'calls',
    outcome: { ...nothing, calls: [{ name: 'list_plants', input: {} }] },
  },
  { name: 'thinking', finish: 'stop', outcome: { ...nothing, text, thinking: thought } },
  { name: 'structured', finish: 'stop', outcome: { ...nothing, text: '{"name":"Ficus","tags":["indoor"]}' } },
  { name: 'length', finish: 'length', outcome: { ...nothing, text: 'Grüße aus dem 🌿' } },
] as const;

describe.each(directions)('a %s client at a provider of %s', (client, provider) => {
  test.each(scenarios)('gets the stream of $name whole', ({ name, finish, outcome }) => {
    const { text: output, state, usage } = runFixture(client, provider, name);

    const reasoning = name === 'thinking' ? 7 : 0;
    expect(readStrictly(client, output)).toEqual({
      ...outcome,
      finish: finishes[client][finish],
      usage: usages[client](reasoning, cacheWrites[provider]),
    });
    expect(state).toBe('complete');
    expect(usage).toMatchObject({
      inputTokens: 120,
      outputTokens: 25,
      cacheReadTokens: 40,
      cacheWriteTokens: cacheWrites[provider],
      reasoningTokens: reasoning,
    });
  });

  test('gets an error event and no finish when the provider fails in mid-stream', () => {
    const { text: output, state } = runFixture(client, provider, 'error');

    const outcome = readStrictly(client, output);
    expect(outcome).toMatchObject({ finish: 'none', text: 'Grüße aus dem 🌿' });
    expect(outcome.error).toMatchObject({ message: expect.stringMatching(/overloaded|failed/i) });
    expect(state).toBe('failed');
  });

  test('never gets a finish reason if the stream is cut off, and gets an error from the relay', () => {
    const translation = startTranslation(client, provider);
    const cut = runStream(translation, [recordedStream(`${provider}.cut`)]);

    expect(cut.thrown).toBeInstanceOf(GatewayError);
    expect(cut.thrown).toMatchObject({ code: 'provider.broken_response' });
    expect(cut.state).toBe('open');
    expect(readStrictly(client, cut.text)).toMatchObject({ finish: 'none', text: 'Grüße aus dem 🌿' });
  });

  test.each(['text', 'two-tools'])(
    'never takes a stream of %s that is cut anywhere for a whole one',
    (name) => {
      const bytes = recordedStream(`${provider}.${name}`);
      const whole = readStrictly(client, runFixture(client, provider, name).text);
      let broken = 0;

      for (let length = 0; length < bytes.length; length += scale(59, 13)) {
        const cut = runStream(startTranslation(client, provider), [bytes.subarray(0, length)]);
        const { text: said, calls, finish } = readStrictly(client, cut.text);
        if (cut.state === 'complete')
          expect({ length, said, calls, finish }).toEqual({ length, ...wanted(whole) });
        else
          expect({ length, finish, thrown: cut.thrown }).toEqual({
            length,
            finish: 'none',
            thrown: brokenResponse,
          });
        if (cut.state === 'open') broken += 1;
      }

      expect(broken).toBeGreaterThan(10);
    },
  );

  test('gets the failure as its dialect has it, after what it has seen', () => {
    const stream = startTranslation(client, provider).stream();
    const failure = new GatewayError('provider.timeout', 'the provider went silent');

    const output = sseOf(stream.fail(failure, 'req_1'));

    expect(readStrictly(client, output).error).toMatchObject({ message: 'the provider went silent' });
    expect(output).toContain('req_1');
    expect(stream.state).toBe('failed');
    expect(stream.event(undefined, '[DONE]')).toEqual([]);
  });
});

// What hosts do differently.
// biome-ignore format: a case a line
const liberties = [
  { what: 'usage on the finish chunk', provider: 'chat', recording: 'text-usage-on-finish', finish: 'stop', outcome: { text } },
  { what: 'a reason, but neither usage nor [DONE]', provider: 'chat', recording: 'text-no-usage-no-done', finish: 'stop', outcome: { text } },
  { what: 'calls whose pieces are mixed', provider: 'chat', recording: 'two-tools-interleaved', finish: 'calls', outcome: { calls: [koeln, bonn] } },
  { what: 'calls whose pieces are mixed', provider: 'responses', recording: 'two-tools-interleaved', finish: 'calls', outcome: { calls: [koeln, bonn] } },
  { what: 'blocks of server tools, which are nothing', provider: 'messages', recording: 'server-tool', finish: 'stop', outcome: { text, calls: [] } },
  { what: 'text only with the final response', provider: 'responses', recording: 'text-only-in-completed', finish: 'stop', outcome: { text } },
] as const;

describe.each(liberties)('$what of $provider', ({ provider, recording, finish, outcome }) => {
  const clients = textDialects.filter((client) => client !== provider);

  test.each(clients)('is understood by a %s client', (client) => {
    const { text: output, state, usage } = runFixture(client, provider, recording);

    const understood = readStrictly(client, output);
    expect(understood).toMatchObject({ ...outcome, finish: finishes[client][finish] });
    expect(state).toBe('complete');
    expect(usage?.outputTokens).toBe(recording === 'text-no-usage-no-done' ? undefined : 25);
    if (usage !== undefined) expect(understood.usage).toEqual(usages[client](0, cacheWrites[provider]));
  });
});

describe('refusals', () => {
  const refusal = 'I can not help with that.';

  test.each([
    ['messages', 'chat', { text: refusal, finish: 'refusal' }],
    ['messages', 'responses', { text: refusal, finish: 'refusal' }],
    ['chat', 'messages', { text: refusal, finish: 'content_filter' }],
    ['chat', 'responses', { refusal, finish: 'stop' }],
    ['responses', 'chat', { refusal, finish: 'completed' }],
    ['responses', 'messages', { text: refusal, finish: 'incomplete: content_filter' }],
    ['gemini', 'chat', { text: refusal, finish: 'SAFETY' }],
    ['gemini', 'messages', { text: refusal, finish: 'SAFETY' }],
    ['gemini', 'responses', { text: refusal, finish: 'SAFETY' }],
    ['messages', 'gemini', { text: refusal, finish: 'refusal' }],
    ['chat', 'gemini', { text: refusal, finish: 'content_filter' }],
    ['responses', 'gemini', { text: refusal, finish: 'incomplete: content_filter' }],
  ] as const)('reach a %s client from %s as its own kind', (client, provider, outcome) => {
    const { text: output } = runFixture(client, provider, 'refusal');

    expect(readStrictly(client, output)).toMatchObject(outcome);
  });
});

test('a matched stop sequence is an ordinary stop for a chat client', () => {
  const { text: output } = runFixture('chat', 'messages', 'stop-sequence');

  expect(readStrictly('chat', output)).toMatchObject({ finish: 'stop' });
});
