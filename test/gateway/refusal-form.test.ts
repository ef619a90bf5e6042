import { expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { refusalForm } from '../../src/gateway/refuse.ts';
import { post, startGateway } from '../kit/gateway.ts';

const fields = (headers: Readonly<Record<string, string>>) =>
  ({ header: (name: string) => headers[name] }) as never; // all that is read of a request

const claude = fields({ 'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)' });
const codex = fields({ originator: 'codex_exec', 'user-agent': 'codex_exec/0.169.0' });
const opencode = fields({ 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.46' });
const copilot = fields({ 'user-agent': 'OpenAI/JS 5.20.1', 'x-interaction-type': 'conversation-user' });
const sdk = fields({ 'user-agent': 'OpenAI/JS 6.1.0' });
const like = fields({ 'user-agent': 'my claude-cli/1', originator: 'not codex' });

const blocked = new GatewayError('policy.blocked', 'x', { reason: 'content.codename' });
const budget = new GatewayError('limit.budget', 'x');
const busy = new GatewayError('limit.requests', 'x');
const tooLarge = new GatewayError('limit.tokens', 'x', { retry: false });
const wrongKey = new GatewayError('key.invalid', 'x');
const down = new GatewayError('provider.unreachable', 'x');
const rejected = new GatewayError('provider.credentials_rejected', 'x');

test.each([
  ['Claude Code', claude, [451, 429, 429, 429, 401, 502, 451]],
  ['Codex', codex, [400, 400, 429, 400, 400, 502, 400]],
  ['opencode', opencode, [403, 400, 429, 400, 401, 502, 400]],
  ['Copilot CLI', copilot, [451, 429, 429, 429, 401, 502, 502]],
  ['an SDK', sdk, [403, 429, 429, 429, 401, 502, 502]],
  ['who only looks like one', like, [403, 429, 429, 429, 401, 502, 502]],
  ['nobody', fields({}), [403, 429, 429, 429, 401, 502, 502]],
])('%s', (_name, request, expected) => {
  const errors = [blocked, budget, busy, tooLarge, wrongKey, down, rejected];

  expect(errors.map((error) => refusalForm(error, request).status)).toEqual(expected);
});

const keyless = new GatewayError('provider.unavailable', 'x', { retry: false });
const [rate, invalid, overloaded] = ['rate_limit_error', 'invalid_request_error', 'overloaded_error'];

test.each([
  ['a spent budget', budget, [rate, rate, invalid, rate]],
  // No overload to Claude Code and opencode, which would wait for its end.
  ['a provider without a key', keyless, ['api_error', overloaded, invalid, overloaded]],
])('%s has another type only where it makes an agent repeat the request', (_what, error, types) => {
  expect([claude, codex, opencode, sdk].map((request) => refusalForm(error, request).type)).toEqual(types);
});

test('a block has the same body for every client but for the way out in the message, and is recorded as one', async () => {
  const gateway = await startGateway(`
policies:
  house:
    apply: all
    rules: [{ id: codename, action: block, when: { text: { phrases: [nightfall] } }, reason: content.codename }]
plants: { store: { enabled: false } }
`);
  const send = async (headers: Readonly<Record<string, string>>) => {
    const asked = { model: 'sandbox-mini', input: 'nightfall' };
    const answer = await post(gateway, '/v1/responses', asked, { headers });
    return { status: answer.status, error: ((await answer.json()) as { error: object }).error };
  };

  const [plain, agent] = [await send({}), await send({ originator: 'codex_exec' })];
  const outcomes = (await gateway.recorded(2)).map(({ outcome }) => outcome);

  const message = 'blocked by rule codename (at /input). Esc twice goes back to before it';
  expect(plain).toMatchObject({
    status: 403,
    error: { type: 'permission_error', reason: 'content.codename' },
  });
  expect(agent).toEqual({ status: 400, error: { ...plain.error, message } });
  expect(outcomes).toEqual(['refused', 'refused']);
});

test('an agent is told of --mask where it helps: with what a detector found', () => {
  const error = new GatewayError('policy.blocked', 'blocked by rule cards', {
    param: '/input',
    detectors: ['credit_card', 'iban'],
  });

  expect(refusalForm(error, codex).message).toBe(
    'blocked by rule cards (at /input). Esc twice goes back to before it; "gateway run --mask credit_card,iban codex" sends placeholders',
  );
  expect(refusalForm(error, copilot).message).toBe(
    'blocked by rule cards (at /input). /rewind goes back to before it; "gateway run --mask credit_card,iban copilot" sends placeholders',
  );
});
