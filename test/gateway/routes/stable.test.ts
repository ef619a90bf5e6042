import { describe, expect, test } from 'vitest';
import { explainRequest } from '../../../src/gateway/offline/explain-request.ts';
import { destinationNamed } from '../../../src/gateway/offline/question.ts';
import { Conversations } from '../../../src/policy/conversations.ts';
import { speakAll } from '../../kit/answers.ts';
import { command } from '../../kit/command.ts';
import { configFrom, projects, secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { createRandom } from '../../kit/random.ts';
import { postRaw } from '../../kit/raw.ts';
import { scale } from '../../kit/scale.ts';

const host = await startHost(speakAll);
const provider = `dialect: anthropic, base_url: "${host.url}"`;
const yaml = (over: number) => `
server: { port: 0 }
providers: { p: { ${provider} } }
models:
  - { match: m, when: { input_tokens: { over: ${over} } }, provider: p, model: large }
  - { match: m, provider: p, model: small }
${projects}`;

interface Turn {
  readonly begins?: string;
  readonly session?: string | undefined;
  readonly subagent?: string;
  readonly key?: string;
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Sends a conversation whose second message has so many words, and says who got it and why. */
async function send(gateway: Gateway, words: number, turn: Turn = {}) {
  const { begins = 'hello', session = 's1', subagent, key = gateway.key } = turn;
  const headers = [
    ...['content-type: application/json', `x-api-key: ${key}`],
    ...(session === '' ? [] : [`x-gateway-session: ${session}`]),
    ...(subagent ? [`x-claude-code-agent-id: ${subagent}`] : []),
  ];
  const messages = [
    { role: 'user', content: begins },
    { role: 'assistant', content: 'word '.repeat(words) },
    { role: 'user', content: 'go on' },
  ];
  const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages }));
  const answer = await postRaw(gateway, '/v1/messages', body, headers);
  const id = answer.headers.get('x-request-id')?.[0];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  const { target_model: to, route } = record;
  return route?.by.some(({ held }) => held) ? `${to}, held` : to;
}

// Five bytes are a word, three a token: 1,000 words are about 1,700 tokens.
describe('a conversation that was over', () => {
  test('stays where it is until it is cut to less than half, and goes there again when it is over', async () => {
    const gateway = await startGateway(yaml(1_500));

    const turns = [];
    for (const words of [100, 1_000, 800, 600, 300, 600, 800, 1_000, 800])
      turns.push(await send(gateway, words));

    expect(turns).toEqual([
      ...['small', 'large', 'large, held', 'large, held'],
      ...['small', 'small', 'small', 'large', 'large, held'],
    ]);
  });

  test('moves nothing else: another first message, session, subagent or key', async () => {
    const gateway = await startGateway(yaml(1_500));
    await send(gateway, 1_000);

    expect(await send(gateway, 800)).toBe('large, held');
    expect(await send(gateway, 800, { begins: 'a summary of what was said' })).toBe('small');
    expect(await send(gateway, 800, { session: 's2' })).toBe('small');
    expect(await send(gateway, 800, { subagent: 'a1' })).toBe('small');
    expect(await send(gateway, 800, { key: secrets.OTHER_KEY })).toBe('small');
    expect(await send(gateway, 800)).toBe('large, held');
  });

  test('is not known without a session', async () => {
    const gateway = await startGateway(yaml(1_500));
    await send(gateway, 1_000, { session: '' });

    expect(await send(gateway, 800, { session: '' })).toBe('small');
  });

  test('is known to a thread that decides on large bodies, and from one', async () => {
    const gateway = await startGateway(yaml(110_000));

    const turns = [];
    for (const words of [60_000, 70_000, 60_000, 50_000]) turns.push(await send(gateway, words));

    expect(turns).toEqual(['small', 'large', 'large, held', 'large, held']);
  });

  test('is refused by a rule for its own size alone', async () => {
    const rule = `policies: { house: { apply: all, rules: [{ id: r, action: block, when: { input_tokens: { over: 1500 } } }] } }`;
    const gateway = await startGateway(yaml(1_000) + rule);
    await send(gateway, 700);

    expect(await send(gateway, 500)).toBe('large, held');
    expect(await send(gateway, 1_000)).toBeUndefined();
  });
});

test('generated conversations go as a model of five lines says', async () => {
  const random = createRandom(52);
  const gateway = await startGateway(yaml(1_500));
  const peaks = new Map<string, number>();
  const counts = new Map<string, number>();
  for (let i = 0; i < scale(150, 3_000); i += 1) {
    const session = random.of(['a', 'b', 'c']);
    const begins = random.of(['one', 'two']);
    const words = random.of([100, 280, 450, 700, 860, 1_020, 1_600, 2_300]);

    const got = await send(gateway, words, { session, begins });

    const id = session + begins;
    const tokens = (words * 5) / 3 + 60; // and what stands around them
    const before = peaks.get(id) ?? 0;
    const held = tokens * 2 < before ? 0 : before;
    const should = tokens > 1_500 ? 'large' : held > 1_500 ? 'large, held' : 'small';
    expect(got, `${i}: ${id} ${tokens} after ${before}`).toBe(should);
    peaks.set(id, should === 'small' ? 0 : Math.max(tokens, held));
    counts.set(should, (counts.get(should) ?? 0) + 1);
  }
  for (const way of ['large', 'large, held', 'small']) expect(counts.get(way)).toBeGreaterThan(5);
});

test('no more than 1,000 conversations are remembered, the latest', () => {
  const conversations = new Conversations();
  for (let i = 0; i < 1_500; i += 1) conversations.note({ id: `c${i}`, peakTokens: i });
  conversations.note({ id: 'c600', peakTokens: 700 });
  conversations.note({ id: 'c601' });
  conversations.note({ id: 'new', peakTokens: 1 });

  expect(conversations.peaks.size).toBe(1_000);
  expect([...conversations.peaks.keys()].slice(-2)).toEqual(['c600', 'new']);
  expect(conversations.peaks.has('c601')).toBe(false);
  expect(conversations.peaks.has('c499')).toBe(false);
});

test('explain says that it knows of no other request', async () => {
  const config = await configFrom(yaml(1_500));
  const key = [...config.keys.records()][0];
  if (key === undefined) throw new Error('there is no key');
  const body = Buffer.from('{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}');

  const report = await explainRequest({ config, key, body, nowMs: 0, ...destinationNamed('messages') });
  const { stdout } = await command('policy explain --key shop-web request.json', {
    files: { 'gateway.yaml': yaml(1_500), 'request.json': body.toString() },
    env: secrets,
  });

  expect(report.route?.entries).toMatchObject([{ holds: false, may_be_held: true }, { holds: true }]);
  expect(stdout).toContain('its conditions do not hold, unless for a conversation that was larger before');
});
