import { beforeAll, expect, test } from 'vitest';
import type { Body, ExchangeDetail } from '../../src/inspector/contract/exchange-detail.ts';
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

async function ask(request: object): Promise<ExchangeDetail> {
  const detail = await gateway.detail(await gateway.ask(request, { path: '/v1/messages' }));
  expect(detail.row.status).toBe(200);
  return detail;
}

const markedTexts = (body: Body | undefined) =>
  body?.marks.map(({ kind, start, end }) => `${kind}: ${body.text.slice(start, end)}`);

test('a translated request is shown as it came, as it left, and as what it is', async () => {
  const request = requestFor('messages', 'gpt-test');

  const { form, attempts, row, bodies } = await ask(request);

  expect(form).toBe('translated');
  expect(attempts).toMatchObject([{ provider: 'host', model: 'gpt-test', form: 'translated' }]);
  expect(row.path).toBe('/v1/messages');
  expect(JSON.parse(bodies?.received?.text ?? '')).toEqual(request);
  expect(bodies?.sent?.text).toBe(host.requests.at(-1)?.body.toString());
  expect(bodies?.sent?.text).not.toBe(bodies?.received?.text);
});

test('in a translated request what was replaced is marked, where it is now', async () => {
  const { bodies } = await ask({
    ...requestFor('messages', 'gpt-test'),
    system: 'You answer \u00e9 ann@penguin-mail.com.',
    messages: [
      { role: 'user', content: 'I am [REDACTED:data.email].' },
      { role: 'assistant', content: 'Hello.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'Write to bob@penguin-mail.com and eve@penguin-mail.com' }],
      },
    ],
  });

  expect(markedTexts(bodies?.received)).toEqual([
    'match: bob@penguin-mail.com',
    'match: eve@penguin-mail.com',
    'match: ann@penguin-mail.com',
  ]);
  expect(markedTexts(bodies?.sent)).toEqual(Array(3).fill('redacted: [REDACTED:data.email]'));
  expect(bodies?.sent?.text).not.toContain('penguin-mail');
  expect(bodies?.sent?.text.match(/\[REDACTED/g)).toHaveLength(4);
});
