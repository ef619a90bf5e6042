import { expect, test } from 'vitest';
import type { ExchangeDetail } from '../../src/inspector/contract/exchange-detail.ts';
import { startHost } from '../kit/host.ts';
import { startInspected } from '../kit/inspector.ts';

const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;

test.each([
  ['whole', false],
  ['streamed', true],
])('what was replaced in an answer is marked: %s', async (_, stream) => {
  const content = 'Write to bob@penguin-mail.com, please.';
  const host = await startHost((response) => {
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    if (stream) return response.end(`${chunk({ role: 'assistant', content })}data: [DONE]\n\n`);
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    return response.end(
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }),
    );
  });
  const gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1" } }
models: [{ match: "*", provider: host }]
records: { bodies: true }
policies:
  house:
    apply: all
    rules: [{ id: no-mail, action: redact, reason: data.email, apply_to: [response], when: { text: { detect: [email] } } }]
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({
        model: 'm',
        stream,
        messages: [{ role: 'user', content: 'Whom do I write to?' }],
      }),
    });
    await response.text();
    const { bodies } = (await gateway.api(
      `exchanges/${response.headers.get('x-request-id')}`,
    )) as ExchangeDetail;
    const { text = '', marks = [] } = bodies?.answer ?? {};

    expect(text).not.toContain('penguin');
    expect(marks.map(({ kind, rule, start, end }) => `${kind} ${rule}: ${text.slice(start, end)}`)).toEqual([
      'redacted no-mail: [REDACTED:data.email]',
    ]);
  } finally {
    await gateway.stop();
    await host.close();
  }
});
