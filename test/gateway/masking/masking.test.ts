import { expect, test } from 'vitest';
import { wordForm } from '../../../src/policy/mask/forms.ts';
import { Placeholders } from '../../../src/policy/mask/placeholders.ts';
import { pathFor } from '../../kit/answers.ts';
import { post, secrets } from '../../kit/gateway.ts';
import { askBySdk } from '../../kit/sdk-outcome.ts';
import { maskedGateway, maskSecret } from './masked-gateway.ts';
import { answerOf, bodies, eventsOf, letters, saying } from './saying.ts';

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
async function ask(
  client: 'messages' | 'chat',
  text: string,
  key: string = secrets.PROJECT_KEY,
  model = `at-${client}`,
) {
  const more = { messages: [{ role: 'user', content: text }] };
  const asked = { client, model, option: 'text', isStream: true, more } as const;
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

test('a fallback in another dialect, after a failure, masks the same and restores', async () => {
  const answer = saying((heard) => ({ text: heard }), letters);
  host.script((response, request) => {
    if (request.target.includes('chat')) response.writeHead(503).end('{}');
    else answer(response, request);
  });
  const email = wordForm('EMAIL');
  const placeholder = new Placeholders(maskSecret, [email]).of(email, 'ann@example.com');

  expect(await ask('chat', 'ann@example.com and «"quoted"»', secrets.PROJECT_KEY, 'fails')).toBe(
    'ann@example.com and «"quoted"»',
  );

  const sent = host.requests.slice(-2).map(({ target, body }) => ({ target, body: body.toString() }));
  expect(sent.map(({ target }) => target)).toEqual(['/v1/chat/completions', '/v1/messages']);
  for (const { body } of sent) {
    expect(body).toContain(placeholder);
    expect(body).not.toMatch(/ann@|quoted/);
  }
});

test('placeholders in ids and headers stay', async () => {
  host.script((response, { body }) => {
    const [placeholder = ''] = /EMAIL_[A-Z]{13}/.exec(body.toString()) ?? [];
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': placeholder });
    response.end(answerOf('chat', { text: placeholder }).replace('chatcmpl-1', placeholder));
  });
  const body = { model: 'at-chat', ...bodies.chat('ann@example.com') };
  const at = { url: gateway.url, key: secrets.PROJECT_KEY };

  const response = await post(at, '/v1/chat/completions', body);

  expect(JSON.stringify([...response.headers])).not.toContain('ann@');
  expect(await response.json()).toMatchObject({
    id: expect.stringMatching(/^EMAIL_/),
    choices: [{ message: { content: 'ann@example.com' } }],
  });
});

test.each([
  ['chat', 'chat'],
  ['messages', 'gemini'],
] as const)(
  'no half of a placeholder in which the answer broke off is shown: a %s client at a %s provider',
  async (client, provider) => {
    host.script((response, { body }) => {
      const [placeholder = 'none'] = /EMAIL_[A-Z]{13}/.exec(body.toString()) ?? [];
      const events = eventsOf(provider, { text: `Write to ${placeholder}` }, letters);
      const first = events.findIndex((event) => event.includes('"E"'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events.slice(0, first + 15).join(''), () => response.destroy());
    });
    const model = `at-${provider}`;
    const at = { url: gateway.url, key: secrets.PROJECT_KEY };
    const body = { model, stream: true, ...bodies[client]('ann@example.com «second "quoted"»') };

    const response = await post(at, pathFor(client, model, true), body);
    let came = '';
    try {
      for await (const chunk of response.body ?? []) came += Buffer.from(chunk).toString();
    } catch {} // the connection was cut behind the error
    const pieces = came.matchAll(/"(?:text|content)":"((?:[^"\\]|\\.)*)"/g);

    expect([...pieces].map(([, piece = '']) => piece).join('')).toBe('Write to ');
    expect(came).toContain('provider.broken_response');
  },
);
