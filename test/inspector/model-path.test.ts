import { expect, test } from 'vitest';
import type { SendAgainResponse, TryPolicyResponse } from '../../src/inspector/contract/actions.ts';
import type { TextResponse } from '../../src/inspector/contract/exchange-detail.ts';
import { command } from '../kit/command.ts';
import { secrets } from '../kit/gateway.ts';
import { startInspected } from '../kit/inspector.ts';

// A dialect whose requests name their model in the path: what is kept of an exchange must be enough to repeat it.

const yaml = `
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["nightfall"] } } }
      - { id: models, action: block, when: { model: [banned] } }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`;
const stream = '/v1beta/models/{model}:streamGenerateContent';

const gateway = await startInspected(`providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
records: { bodies: true }
${yaml}`);

const ask = (method: string, text: string, query = '') =>
  gateway.ask(
    { contents: [{ role: 'user', parts: [{ text }] }] },
    { path: `/v1beta/models/${method}${query}` },
  );

test('it is sent again, also to another model, and every rule is shown on it', async () => {
  const id = await ask('sandbox-mini:streamGenerateContent', 'hi', '?alt=sse');

  const same = (await gateway.post('send-again', { id })) as SendAgainResponse;
  const other = (await gateway.post('send-again', { id, model: 'open/sandbox:b' })) as SendAgainResponse;
  const blocked = (await gateway.post('send-again', { id, model: 'banned' })) as SendAgainResponse;

  expect([same.status, other.status, blocked.status]).toEqual([200, 200, 403]);
  const { row, rules } = await gateway.detail(same.id);
  expect(row).toMatchObject({ path: stream, model: 'sandbox-mini', stream: true });
  expect(rules).toContainEqual(expect.objectContaining({ rule: 'codename', matched: false }));
  expect((await gateway.detail(other.id)).row).toMatchObject({ path: stream, model: 'open/sandbox:b' });
});

test('its command line and its test have the model', async () => {
  const id = await ask('sandbox-mini:generateContent', 'hi');

  const curl = (await gateway.api(`exchanges/${id}/curl`)) as TextResponse;
  const fixture = (await gateway.api(`exchanges/${id}/test`)) as TextResponse;
  const files = { 'gateway.yaml': yaml, [fixture.name]: fixture.text };

  expect(curl.text).toContain(`${gateway.url}/v1beta/models/sandbox-mini:generateContent'`);
  expect(fixture.text).toContain('endpoint: /v1beta/models/sandbox-mini:generateContent\n');
  const env = { PROJECT_KEY: secrets.PROJECT_KEY };
  expect(await command(['policy', 'test', fixture.name], { files, env })).toMatchObject({ exit: 0 });
});

test('other rules are tried on it, by its path', async () => {
  const id = await ask('sandbox-mini:generateContent', 'hi');
  const policies =
    'house: { apply: all, rules: [{ id: minis, action: block, when: { model: ["*-mini"] } }] }';
  const { text = '' } = (await gateway.detail(id)).bodies?.received ?? {};

  const endpoint = '/v1beta/models/sandbox-mini:generateContent';
  const byPath = (await gateway.post('try-policy', { policies, body: text, endpoint })) as TryPolicyResponse;

  expect(byPath).toMatchObject({ kind: 'decided', decision: 'block', rule: 'minis' });
});
