import { expect, test } from 'vitest';
import { post, secrets } from '../../kit/gateway.ts';
import { askBySdk } from '../../kit/sdk-outcome.ts';
import { maskedGateway } from './masked-gateway.ts';
import { letters, saying } from './saying.ts';

const { host, gateway } = await maskedGateway({
  rules: [
    '{ id: emails, action: mask, when: { text: { detect: [email] } }, reason: content.email }',
    '{ id: keys, action: mask, when: { text: { detect: [secrets] } }, reason: content.secret }',
    "{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }",
  ],
  others: {
    areAlone: false,
    rules: [
      '{ id: codename, action: block, apply_to: [response], when: { text: { phrases: ["email", "nightfall"], match: exact } } }',
      "{ id: answers, action: redact, apply_to: [response], when: { text: { regex: ['[A-Z]{12,}', 'ann@[a-z.]+'] } } }",
    ],
  },
});

/** The text of a streamed answer as the official SDK reads it. That all comes back: generated.test.ts. */
async function ask(client: 'messages' | 'chat', text: string, key: string = secrets.PROJECT_KEY) {
  const more = { messages: [{ role: 'user', content: text }] };
  const asked = { client, model: `at-${client}`, option: 'text', isStream: true, more } as const;
  return (await askBySdk({ url: gateway.url, key }, asked)).text;
}

test('rules on answers judge what the provider said, but nothing within a placeholder', async () => {
  const judged = () => ask('messages', 'ann@example.com', secrets.OLD_KEY);
  host.script(saying((heard) => ({ text: `${heard} ABCDEFGHIJKLMNOP` }), letters));

  expect(await judged()).toBe('ann@example.com [REDACTED:policy.blocked]');
  // The same value from the provider itself.
  host.script(saying((heard) => ({ text: `${heard} or ann@example.com` }), letters));
  expect(await judged()).toBe('ann@example.com or [REDACTED:policy.blocked]');
  host.script(saying((heard) => ({ text: `${heard} nightfall` }), letters));
  await expect(judged()).rejects.toThrow('codename');
});

test('the record has numbers by kind and no values', async () => {
  host.script(saying((heard) => ({ text: `${heard}, ${heard} and ${heard.toLowerCase()}` }), letters));
  const before = gateway.records.length;

  await ask('chat', 'ann@example.com');

  const record = (await gateway.recorded(before + 1)).at(-1);
  expect(record).toMatchObject({
    decision: 'mask',
    body: 'masked',
    masked: { EMAIL: 1 },
    restored: { EMAIL: 2 },
    broken_placeholders: { EMAIL: 1 },
  });
  expect(JSON.stringify(record)).not.toContain('ann@');
});

test('a request with nothing to mask and its answer pass byte for byte', async () => {
  host.script(saying(() => ({ text: 'EMAIL_ABCDEFGHIJKLM and EMAI' }), letters));
  const body =
    '{ "model": "m",  "max_tokens": 9, "stream": true, "messages": [{"role":"user","content":"h\\u00e9llo"}]}';
  const send = (key: string, model: string) =>
    post({ url: gateway.url, key }, '/v1/messages', body.replace('"m"', JSON.stringify(model)));

  const [open, masked] = [
    await send(secrets.OTHER_KEY, 'at-messages'),
    await send(secrets.PROJECT_KEY, 'at-messages'),
  ];

  expect(masked.headers.get('x-gateway-body')).toBe('spliced');
  expect(await masked.text()).toBe(await open.text());
  const [first, second] = host.requests.slice(-2).map((request) => request.body.toString());
  expect(second).toBe(first);
});
