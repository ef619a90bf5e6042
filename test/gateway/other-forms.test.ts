import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../src/dialects/registry.ts';
import { plainAnswers } from '../dialects/translation/plain-answers.ts';
import { json, pathFor, requestFor, stream } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { textDialects } from '../kit/dialects.ts';
import { post, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { recordedStream } from '../kit/recorded-streams.ts';
import { askBySdk } from '../kit/sdk-outcome.ts';

// Hosts that always stream or never do, and that say something else than their status.

const host = await startHost(json('{}'));
const gateway = await startGateway(`
providers:
${providersAt(host.url)}
models:
${modelsAt('at-', { model: 'm' })}
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
const pairs = textDialects.flatMap((client) => textDialects.map((provider) => ({ client, provider })));
const koeln = { name: 'get_weather', input: { city: 'Köln 🏰', days: 3 } };
const bonn = { name: 'get_weather', input: { city: 'Bonn' } };
const errorOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

describe.each(pairs)('a $client client at a $provider host', ({ client, provider }) => {
  const model = `at-${provider}`;

  test.each([
    ['thinking', { thinking: 'The user asks about plants… 🤔', finish: 'stop' }],
    ['two-tools', { calls: [koeln, bonn], finish: 'tools' }],
    ['length', { text: 'Grüße aus dem 🌿', finish: 'length' }],
  ])('that always streams: %s', async (recording, expected) => {
    host.script(stream([recordedStream(`${provider}.${recording}`)]));

    const outcome = await askBySdk(gateway, { client, model, option: 'tools', isStream: false });

    expect(outcome).toMatchObject({ ...expected, inputTokens: 120, outputTokens: 25 });
  });

  test('that always streams, and is cut', async () => {
    host.script(stream([recordedStream(`${provider}.cut`)]));

    const error = await errorOf(askBySdk(gateway, { client, model, option: 'text', isStream: false }));

    expect(error).toMatchObject({ status: 502 });
  });

  test.each([
    ['thinking', { thinking: 'The user asks about plants…' }],
    ['two tools', { calls: [koeln, bonn], finish: 'tools' }],
  ] as const)('that never streams: %s', async (plain, expected) => {
    host.script(json(JSON.stringify(plainAnswers[provider][plain])));

    const outcome = await askBySdk(gateway, { client, model, option: 'tools', isStream: true });

    expect(outcome).toMatchObject({ ...expected, inputTokens: 120, outputTokens: 25 });
  });
});

const others = (provider: TextDialectName) => textDialects.filter((client) => client !== provider);
const errorWith = (error: object) => json(JSON.stringify({ error }));

describe.each(textDialects)('an error of a %s host with a status of success', (provider) => {
  test.each(
    others(provider).flatMap((client) => [false, true].map((isStream) => [client, isStream] as const)),
  )('is one for a client of %s (streamed: %s)', async (client, isStream) => {
    const ask = async () => {
      const body = requestFor(client, `at-${provider}`, { stream: isStream });
      const answer = await post(gateway, pathFor(client, `at-${provider}`, isStream), body);
      return [answer.status, await answer.text()] as const;
    };
    const statuses: (readonly [object, number])[] = [
      [{ code: 429, message: 'slow down please' }, 429],
      [{ code: 'odd_word', message: 'slow down please' }, 502],
    ];
    for (const [error, expected] of statuses) {
      host.script(errorWith(error));
      const [status, text] = await ask();
      expect([status, text.includes('slow down please')]).toEqual([expected, true]);
    }
  });
});

test('an error in a choice has its own words', async () => {
  const choice = { index: 0, finish_reason: 'error', error: { code: 504, message: 'upstream idle' } };
  host.script(json(JSON.stringify({ choices: [{ ...choice, message: { content: '' } }] })));

  const answer = await post(gateway, '/v1/messages', requestFor('messages', 'at-chat'));

  expect(answer.status).toBe(504);
  expect(await answer.json()).toMatchObject({ error: { message: 'upstream idle' } });
});

test('a key refused with a status of success is not the client’s', async () => {
  host.script(errorWith({ code: 401, message: 'bad key' }));

  const answer = await post(gateway, '/v1/messages', requestFor('messages', 'at-chat'));

  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain('provider.credentials_rejected');
});

// biome-ignore format: a case a line
test.each([
  ['OpenRouter’s moderation', { code: 403, message: 'openai/gpt-5 requires moderation. Your input was flagged', metadata: { reasons: ['x'] } }, 403],
  ['OpenAI, a model', { message: 'Project `p` does not have access to model `m`', type: 'invalid_request_error', code: 'model_not_found' }, 403],
  ['Anthropic, a permission', { type: 'permission_error', message: 'Your API key does not have permission to use the specified resource' }, 403],
  ['Google, a region', { code: 403, message: 'This model is not available in your country', status: 'PERMISSION_DENIED' }, 403],
  ['a leaked key', { code: 403, message: 'Your API key was reported as leaked. Please use another API key.', status: 'PERMISSION_DENIED' }, 502],
  ['a suspended key', { code: 403, message: "Permission denied: Consumer 'api_key:A' has been suspended.", status: 'PERMISSION_DENIED' }, 502],
  ['a wrong key', { message: 'Invalid API key provided' }, 502],
  ['an expired token', { message: 'The security token included in the request is expired' }, 502],
  ['nothing', {}, 502],
])('403: %s', async (_what, error, expected) => {
  host.script(json(JSON.stringify({ error }), 403));
  for (const provider of ['chat', 'messages'] as const) {
    const answer = await post(gateway, '/v1/messages', requestFor('messages', `at-${provider}`));
    const text = await answer.text();
    expect(answer.status).toBe(expected);
    if (expected === 403) expect(text).toContain((error as { message: string }).message);
    else expect(text).toContain('provider.credentials_rejected');
  }
});
