import { afterEach, describe, expect, test, vi } from 'vitest';
import { RuleInputs } from '../../src/policy/rule-inputs.ts';
import { json } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { post, secrets } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';

const more = `
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: cards, action: redact, when: { text: { detect: [credit_card] } }, reason: content.credit_card }
      - { id: tickets, action: warn, when: { text: { regex: ['\\bTCK-[0-9]{6}\\b'] } } }
      - { id: greetings, action: warn, when: { text: { phrases: ["good morning"] } } }
      - { id: banned, action: block, when: { model: ["gpt-banned"] }, reason: model.not_allowed }
      - { id: caps, action: block, when: { max_output_tokens: { over: 1000 } }, reason: limits.max_output_tokens }
`;
const { openai, gateway } = await startHosts(json('{"id":"a","choices":[]}'), (urls) =>
  twoHosts({ ...urls, more }),
);

const path = '/v1/chat/completions';
const saying = (content: unknown, more: object = {}) => ({
  model: 'gpt-test',
  messages: [{ role: 'user', content }],
  ...more,
});

/** Sends it and gives the answer, the record and what reached the provider. */
async function send(body: object, headers: Record<string, string> = {}) {
  const [recordsBefore, sentBefore] = [gateway.records.length, openai.requests.length];
  const text = JSON.stringify(body);
  const answer = await post(gateway, path, text, { headers });
  const value = JSON.parse(await answer.text());
  const records = await gateway.recorded(recordsBefore + 1);
  const sent = openai.requests.slice(sentBefore).map((request) => request.body.toString());
  return {
    status: answer.status,
    headers: answer.headers,
    value,
    record: records[recordsBefore],
    sent,
    text,
  };
}

describe('outcomes', () => {
  test('a key that came as a model, or in the path, is in no record', async () => {
    const { record } = await send(saying('hi', { model: secrets.PROVIDER_KEY }));
    const before = gateway.records.length;
    await (await fetch(`${gateway.url}/v1/${secrets.PROJECT_KEY}`)).text();
    const unknown = (await gateway.recorded(before + 1))[before];

    expect(record).toMatchObject({ status: 403, reason: 'content.gateway_key', model: '' });
    expect(unknown).toMatchObject({ status: 404, path: '/v1/[secret]' });
  });

  test('a model that a rule on models refuses is recorded', async () => {
    const { record, status } = await send(saying('hi', { model: 'gpt-banned' }));
    const both = await send(saying('see project nightfall', { model: 'gpt-banned' }));

    expect([status, record]).toMatchObject([403, { reason: 'model.not_allowed', model: 'gpt-banned' }]);
    expect(both.record).toMatchObject({ status: 403, model: 'gpt-banned' });
  });

  test('a warning names its rule in a header, once for each, and the bytes go on as they came', async () => {
    const { status, headers, record, sent, text } = await send(
      saying('good morning, see TCK-123456 and TCK-654321'),
    );

    expect([status, sent, headers.get('x-gateway-body')]).toEqual([200, [text], 'exact']);
    expect(headers.get('x-gateway-warning')).toBe('tickets, greetings');
    expect(record).toMatchObject({
      decision: 'warn',
      rules: [{ id: 'tickets', count: 2 }, { id: 'greetings' }],
    });
  });

  test('records contain ids, counts, places and times, never content', async () => {
    await send(saying('project nightfall 4111 1111 1111 1111 TCK-123456'));
    const { headers, record } = await send(saying('see project nightfall'));

    expect(record).toMatchObject({
      key: 'shop-web',
      project: 'shop',
      endpoint: 'chat',
      decision: 'block',
      reason: 'content.codename',
      rules: [{ id: 'codename', action: 'block', mode: 'enforce', at: '/messages/0/content', count: 1 }],
      policy_us: expect.any(Number),
      config: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes_out: Number(headers.get('content-length')),
    });
    expect(record?.bytes_out).toBeGreaterThan(100);
    const written = JSON.stringify(gateway.records);
    expect(written).not.toMatch(/nightfall|4111 ?1111|TCK-/i);
  });

  test.each([
    ['a text', { '4111 1111 1111 1111': 'project nightfall' }],
    ['a text below the same', { 'Project Nightfall': { a: ['project nightfall'] } }],
    ['a cap', { '4111 1111 1111 1111': { max_tokens: 5000 } }],
  ])('the place of %s under a key that must not be told is told without that key', async (_what, extra) => {
    const { status, value, record } = await send(saying('x', { extra }));

    expect(status).toBe(403);
    expect(JSON.stringify([value, record])).not.toMatch(/nightfall|4111 ?1111/i);
    expect(value.error.param).toMatch(/^\/\*/);
  });
});

describe('what goes wrong', () => {
  afterEach(() => vi.restoreAllMocks());

  // The only way into matchers that throw: none of ours does.
  test.each([
    [
      'a rule that throws',
      () => vi.spyOn(RuleInputs.prototype, 'caps', 'get'),
      {},
      'rule caps could not be evaluated, so the request is refused',
    ],
    [
      'the walk over the texts',
      () => vi.spyOn(RuleInputs.prototype, 'searchResult', 'get'),
      {},
      expect.stringContaining('could not be evaluated, so the request is refused'),
    ],
    [
      'a rule that throws on a header',
      () => vi.spyOn(RuleInputs.prototype, 'found'),
      { 'user-agent': 'project nightfall' },
      'rule gateway-key could not be evaluated, so the request is refused',
    ],
  ])('%s refuses; its cause is in the record alone', async (_what, spyOn, headers, message) => {
    spyOn().mockImplementation(() => {
      throw new RangeError('the reader broke');
    });

    const { status, value, record, sent } = await send(saying('hello'), headers);

    expect([status, value.error.reason, sent]).toEqual([403, 'policy.error', []]);
    expect(value.error.message).toEqual(message);
    expect(JSON.stringify(value)).not.toContain('the reader broke');
    expect(record).toMatchObject({
      status: 403,
      decision: 'block',
      reason: 'policy.error',
      cause: 'RangeError: the reader broke',
    });
  });

  test('the next request is served as before', async () => {
    expect((await send(saying('hello'))).status).toBe(200);
  });
});
