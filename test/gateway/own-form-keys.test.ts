import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { json, messagesAnswer } from '../kit/answers.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

// A project key of a form of its own, of which the configuration has the hash alone.

const key = 'a-Key-of/this.House+5555444433332222';
const hash = createHash('sha256').update(key).digest('hex');

const host = await startHost(() => undefined);
const gatewayFor = (more: string) =>
  startGateway(`
providers:
  host: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" }
  google: { dialect: gemini, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" }
${more}
models: [{ match: "g*", provider: google }, { match: "*", provider: host }]
projects:
  shop: { keys: [{ id: hashed, hash: "sha256:${hash}" }, { id: shop-web, value: "\${PROJECT_KEY}" }] }
records: { bodies: true }
`);
const plain = await gatewayFor('');
const beside = await gatewayFor(`  own: { dialect: openai, base_url: "${host.url}", credentials: client }`);

beforeEach(() => {
  host.script(json(messagesAnswer));
});

interface Sent {
  readonly content?: string;
  readonly model?: string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly as?: Record<string, string>;
  readonly text?: string;
}

const code = (text: string) =>
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const escaped = [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');

async function send(
  gateway: typeof plain,
  { content = 'hi', model = 'm', headers = {}, path = '/v1/messages', as = { 'x-api-key': key }, text }: Sent,
) {
  const before = [host.requests.length, gateway.records.length] as const;
  const body = text ?? JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content }] });
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...as, ...headers },
    body,
  });
  const said = await answer.text();
  await gateway.recorded(before[1] + 1);
  const record = JSON.stringify(gateway.records.slice(before[1]));
  return { status: answer.status, text: said, requests: host.requests.slice(before[0]), record };
}

const places: [string, Sent][] = [
  ['a text', { content: `use ${key}` }],
  [
    'a text with escapes',
    { text: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"${escaped}"}]}` },
  ],
  ['a link', { content: `https://x.test/?k=${encodeURIComponent(key)}&y` }],
  ['the model', { model: key }],
  ['a header', { headers: { 'user-agent': `tool ${key}` } }],
  ['a flag', { headers: { 'anthropic-beta': key } }],
  ['the session', { headers: { 'x-gateway-session': key } }],
  [
    'the model in the path',
    { path: `/v1beta/models/g${code(key)}:generateContent`, text: '{"contents":[]}' },
  ],
];

test.each(places)('is refused in %s, and nowhere written down', async (_, sent) => {
  for (const gateway of [plain, beside]) {
    for (const as of [
      { 'x-api-key': key },
      { authorization: `bearer  ${key}` },
      { 'x-gateway-key': key },
      { 'x-api-key': `${key}~run-5b2ce1f0a97d~usd-5` },
    ]) {
      const { status, text, requests, record } = await send(gateway, { ...sent, as });

      expect([status, requests]).toEqual([403, []]);
      expect(JSON.parse(text).error.reason ?? JSON.parse(text).error.details?.[0]?.reason).toBe(
        'content.client_credential',
      );
      expect(record).toContain('"reason":"content.client_credential"');
      expect(text + record).not.toContain(key);
      expect(text + record).not.toContain(encodeURIComponent(key));
      expect(text + record).not.toContain(escaped);
      expect(text + record).not.toContain(code(key));
    }
  }
});

test('goes nowhere in the query', async () => {
  for (const spelling of [key, encodeURIComponent(key), code(key)]) {
    const { requests, record } = await send(plain, { path: `/v1/messages?x=${spelling}` });

    expect(requests.map(({ target }) => target)).toEqual(['/v1/messages']);
    expect(record).not.toContain(spelling);
  }
});

test('is in no record of a path that there isn’t', async () => {
  for (const path of [`/v1/${key}`, `/v1/${encodeURIComponent(key)}`, `/v1/${code(key)}`]) {
    const { status, record } = await send(plain, { path });

    expect(status).toBe(404);
    expect(record).toContain('/v1/[secret]');
  }
});

test('is scrubbed from what its host answers, and its request passes as it is', async () => {
  const echo = { ...JSON.parse(messagesAnswer), content: [{ type: 'text', text: `you are ${key}` }] };
  host.script(json(JSON.stringify(echo)));

  const { status, text, requests } = await send(plain, {});

  expect(status).toBe(200);
  expect(text).toContain('you are [secret]');
  expect(JSON.stringify(requests)).not.toContain(key);
});

test('a key that is in the configuration is told of by its own reason', async () => {
  const as = { 'x-api-key': secrets.PROJECT_KEY };

  const { status, text } = await send(plain, { as, content: secrets.PROJECT_KEY });

  expect([status, JSON.parse(text).error.reason]).toEqual([403, 'content.gateway_key']);
});
