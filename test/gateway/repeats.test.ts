import { expect, test } from 'vitest';
import { post, projects, startGateway, type TestGateway } from '../kit/gateway.ts';

const yaml = `
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "sandbox-*", provider: sandbox }]
policies:
  house:
    apply: all
    rules: [{ id: no-tools, action: block, when: { tools: ["*"] }, reason: tools.not_allowed }]
plants: { store: { enabled: false } }
${projects}`;

function ask(gateway: TestGateway, tool: string, headers: Record<string, string>): Promise<Response> {
  const body = { model: 'sandbox-mini', input: 'hi', tools: [{ type: 'function', name: tool }] };
  return post(gateway, '/v1/responses', body, { headers });
}

test('a refusal that a session repeats is recorded once, and then with a count', async () => {
  const gateway = await startGateway(yaml);
  const session = { 'session-id': 'one' };

  for (let i = 0; i < 6; i += 1) expect((await ask(gateway, 'shell', session)).status).toBe(403);
  await ask(gateway, 'other', session);
  await ask(gateway, 'shell', { 'session-id': 'two' });
  const before = gateway.records.length;
  await gateway.stop();

  expect(before).toBe(3);
  expect(gateway.records.slice(before)).toMatchObject([
    { request_id: gateway.records[0]?.request_id, reason: 'tools.not_allowed', repeats: 5 },
  ]);
});

test('without a session every refusal is recorded', async () => {
  const gateway = await startGateway(yaml);

  for (let i = 0; i < 3; i += 1) await ask(gateway, 'shell', {});
  await gateway.stop();

  expect(gateway.records).toHaveLength(3);
});
