import { expect, test } from 'vitest';
import type { ExchangeDetail } from '../../src/inspector/contract/exchange-detail.ts';
import { requestFor, speakAll } from '../kit/answers.ts';
import { startHost } from '../kit/host.ts';
import { startInspected } from '../kit/inspector.ts';

test('a translated request is shown as it came, as it left, and as what it is', async () => {
  const host = await startHost(speakAll);
  const gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "gpt-*", provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
  try {
    await gateway.api('keep-bodies', { method: 'POST', body: '{}' });
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': gateway.key },
      body: JSON.stringify(requestFor('messages', 'gpt-test')),
    });
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    const { form, attempts, row, bodies } = (await gateway.api(`exchanges/${id}`)) as ExchangeDetail;

    expect(answer.status).toBe(200);
    expect(form).toBe('translated');
    expect(attempts).toMatchObject([{ provider: 'host', model: 'gpt-test', form: 'translated' }]);
    expect(row.path).toBe('/v1/messages');
    expect(JSON.parse(bodies?.received?.text ?? '')).toEqual(requestFor('messages', 'gpt-test'));
    expect(bodies?.sent?.text).toBe(host.requests.at(-1)?.body.toString());
    expect(bodies?.sent?.text).not.toBe(bodies?.received?.text);
  } finally {
    await gateway.stop();
    await host.close();
  }
});
