import { expect, test } from 'vitest';
import { speakAll } from '../kit/answers.ts';
import { secrets, startGateway, type TestGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { postRaw } from '../kit/raw.ts';

// What clients may do with the names of their sessions, under a budget of each. What they take of memory is measured in
// limits/limiter.test.ts, `kill -9` and Redis in cli/serve/session-budgets.slow.test.ts.

const host = await startHost(speakAll);

const yaml = (perSession: number, perMinute = 100_000) => `
server: { port: 0 }
providers: { claude: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" } }
models: [{ match: "claude-*", provider: claude }]
projects:
  shop:
    limits: { requests_per_session: ${perSession}, requests_per_minute: ${perMinute} }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
  other:
    limits: { requests_per_session: ${perSession} }
    keys: [{ id: other-web, value: "\${OTHER_KEY}" }]
`;

async function ask(gateway: TestGateway, session: string | undefined, key: string = secrets.PROJECT_KEY) {
  const body = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const answer = await postRaw(gateway, '/v1/messages', body, [
    'content-type: application/json',
    `x-api-key: ${key}`,
    ...(session === undefined ? [] : [`x-gateway-session: ${session}`]),
  ]);
  return { status: answer.status, id: answer.headers.get('x-request-id')?.[0] };
}

async function statuses(gateway: TestGateway, sessions: readonly (string | undefined)[], key?: string) {
  const all: number[] = [];
  for (const session of sessions) all.push((await ask(gateway, session, key)).status);
  return all;
}

test.each([
  ['of 10 KB', 'x'.repeat(10_240)],
  ['of 129 characters', 'x'.repeat(129)],
  ['with a control character', 'a\tb'],
  ['with a letter that is none of ASCII', 'ä'],
  ['that is empty', ''],
  ['that are two', 'a, b'],
])('an id %s is none: the request is answered and counts for no session', async (_, id) => {
  const gateway = await startGateway(yaml(2));

  for (let i = 0; i < 4; i += 1) {
    const { status, id: request } = await ask(gateway, id);
    const record = await gateway.recordWhere(({ request_id }) => request_id === request);

    expect([status, record.session]).toEqual([200, undefined]);
  }
});

test('the same id of two keys is two sessions, so that none drains the other’s budget', async () => {
  const gateway = await startGateway(yaml(2));

  expect(await statuses(gateway, ['s', 's', 's'], secrets.OTHER_KEY)).toEqual([200, 200, 429]);
  expect(await statuses(gateway, ['s', 's', 's'])).toEqual([200, 200, 429]);
});

test('an id that changes in mid-conversation begins another budget, within that of the key', async () => {
  const gateway = await startGateway(yaml(2, 5));

  expect(await statuses(gateway, ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'd'])).toEqual([
    200, 200, 429, 200, 200, 429, 200, 429,
  ]);
  expect(await statuses(gateway, [undefined])).toEqual([429]);
});

test('after a thousand others a session has no more than before', async () => {
  const gateway = await startGateway(yaml(2));
  expect(await statuses(gateway, ['first', 'first', 'first'])).toEqual([200, 200, 429]);

  const others = Array.from({ length: 1_000 }, (_, i) => `s-${i}`);
  for (let at = 0; at < others.length; at += 50) {
    const asked = await Promise.all(others.slice(at, at + 50).map((each) => ask(gateway, each)));
    expect(asked.every(({ status }) => status === 200)).toBe(true);
  }

  expect(await statuses(gateway, ['first', 's-0', 's-0', 's-0'])).toEqual([429, 200, 429, 429]);
}, 120_000);

test('a reload that lowers or raises the limit holds for sessions that have begun', async () => {
  const gateway = await startGateway(yaml(3));
  expect(await statuses(gateway, ['s', 's'])).toEqual([200, 200]);

  await gateway.reload(yaml(2));
  expect(await statuses(gateway, ['s'])).toEqual([429]);
  await gateway.reload(yaml(4));
  expect(await statuses(gateway, ['s', 's', 's'])).toEqual([200, 200, 429]);
});
