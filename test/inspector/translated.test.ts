import { beforeAll, expect, test } from 'vitest';
import type { Body } from '../../src/inspector/contract/exchange-detail.ts';
import { requestFor, speakAll } from '../kit/answers.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';
import { type InspectedGateway, startInspected } from '../kit/inspector.ts';

let host: ScriptedHost;
let gateway: InspectedGateway;
beforeAll(async () => {
  host = await startHost(speakAll);
  gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "gpt-*", provider: host }]
records: { bodies: true }
policies:
  house:
    apply: all
    rules: [{ id: no-mail, action: redact, reason: data.email, when: { text: { detect: [email] } } }]
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
});

const markedTexts = (body: Body | undefined) =>
  body?.marks.map(({ kind, start, end }) => `${kind}: ${body.text.slice(start, end)}`);

test('a translated request is shown as it came and as it left, with what was replaced', async () => {
  const content = 'Write to bob@penguin-mail.com, not to [REDACTED:data.email].';
  const request = { ...requestFor('messages', 'gpt-test'), messages: [{ role: 'user', content }] };

  const ask = async (body: object) => gateway.detail(await gateway.ask(body, { path: '/v1/messages' }));
  const plain = await ask(requestFor('messages', 'gpt-test'));
  const { form, row, bodies } = await ask(request);

  expect(plain).toMatchObject({
    form: 'translated',
    attempts: [{ provider: 'host', model: 'gpt-test', form: 'translated' }],
  });
  expect(form).toBe('redacted');
  expect(row).toMatchObject({ path: '/v1/messages', status: 200 });
  expect(JSON.parse(bodies?.received?.text ?? '')).toEqual(request);
  expect(bodies?.sent?.text).toBe(host.requests.at(-1)?.body.toString());
  expect(markedTexts(bodies?.received)).toEqual(['match: bob@penguin-mail.com']);
  expect(bodies?.sent?.text).not.toContain('penguin-mail');
  expect(markedTexts(bodies?.sent)).toContain('redacted: [REDACTED:data.email]');
});
