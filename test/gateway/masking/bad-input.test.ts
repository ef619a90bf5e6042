import { describe, expect, test } from 'vitest';
import { json } from '../../kit/answers.ts';
import { post, secrets, startGateway, type TestGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { answerOf, letters, saying, whole } from './saying.ts';

const rules = {
  emails: `{ id: emails, action: mask, when: { text: { detect: [email] } } }`,
  names: `{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }`,
  letter: `{ id: letter, action: mask, when: { text: { regex: ['ß'] } }, placeholder: LETTER }`,
  overlapping: `{ id: overlapping, action: mask, when: { text: { regex: ['abcd', 'cdef', 'bc'] } } }`,
};

const host = await startHost(saying((text) => ({ text })));
const failing = await startHost((response) => response.writeHead(503).end('{}'));

/** The same but for its rules. */
const config = (masking: readonly string[]) => `
providers:
  chat: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat], retries: { attempts: 1 }, breaker: { failures: 1000 } }
  other: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", endpoints: [messages] }
  failing: { dialect: openai, base_url: "${failing.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat], retries: { attempts: 2 }, breaker: { failures: 1000 } }
models:
  - { match: fails, provider: failing, fallbacks: [{ provider: other, model: m }] }
  - { match: "*", provider: chat }
masking: { secret: a-secret-of-the-team-long-enough }
policies:
  masking: { rules: [${masking.join(', ')}] }
projects:
  shop: { policies: [masking], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
plants: { store: { enabled: false } }
`;

const gateway = await startGateway(config(Object.values(rules)));
/** A gateway with the same secret and other rules. */
const reloaded = await startGateway(config([rules.names]));

interface Asked {
  readonly text: string;
  readonly isStream: boolean;
  readonly model?: string;
  readonly key?: string;
  readonly at?: TestGateway;
}

async function ask({ text, isStream, model = 'm', key = secrets.PROJECT_KEY, at = gateway }: Asked) {
  const body = { model, stream: isStream, messages: [{ role: 'user', content: text }] };
  const response = await post(at, '/v1/chat/completions', body, {
    headers: { authorization: `Bearer ${key}` },
  });
  const came = await response.text();
  const chunks = isStream
    ? [...came.matchAll(/^data: (\{[^\n]*)$/gm)].map(([, data = '']) => JSON.parse(data))
    : [JSON.parse(came)];
  const parts = chunks.map(({ choices: [{ delta, message = delta } = {}] = [] }) => message?.content ?? '');
  return { status: response.status, heard: parts.join(''), came, headers: response.headers };
}

const lastBody = () => host.requests.at(-1)?.body.toString() ?? '';
const many = Array.from({ length: 10_000 }, (_, at) => `user${at}@customers.example`).join(' ');

const texts: Readonly<Record<string, string>> = {
  'ten thousand values': many,
  'values that contain one another':
    'ann@example.com joann@example.com ann@example.com.au «ann@example.com» «a «b» c»',
  'values that overlap': 'abcdef abcdcdef bcd abcd',
  'values side by side': '«a»«b»«a»ann@example.com«ann@example.com»ß«ß»',
  'values that look like placeholders':
    'EMAIL_ABCDEFGHIJKLM@example.com «CUSTOMER_ABCDEFGHIJKLM» CUSTOMER_ABCDEFGHIJKLM',
  'a broken placeholder of the client': 'EMAIL_ABCDEFGHIJKL EMAIL_ email_abcdefghijklm and ann@example.com',
  'values of one letter': 'ß and ßß, Straße',
  'a value of 100 KB': `before «${'long '.repeat(20_000)}» after`,
  'quotes, lines, emoji and NUL': '«"\\" \n\r\t\u0000 🌿 \u2028» «\\u0000» «\\\\»',
  'the same in other case and escapes':
    'ann@example.com ANN@EXAMPLE.COM Ann@Example.com ann\\u0040example.com «A» «a»',
  'JSON in the text': JSON.stringify({ a: 'ann@example.com', b: JSON.stringify({ c: '«"q"»', d: ['ß'] }) }),
};

describe.each(Object.keys(texts))('%s', (name) => {
  const text = texts[name] ?? '';

  test.each([
    ['plain', false, whole],
    ['streamed whole', true, whole],
    ['streamed letter by letter', true, letters],
  ])('come back as without masks: %s', async (_form, isStream, cut) => {
    if (cut === letters && text.length > 50_000) return; // a third of a million events
    host.script(saying((heard) => ({ text: heard }), cut));

    const plain = await ask({ text, isStream, key: secrets.OTHER_KEY });
    const masked = await ask({ text, isStream });

    expect([plain, masked].map(({ status, heard }) => ({ status, isSame: heard === text }))).toEqual(
      Array(2).fill({ status: 200, isSame: true }),
    );
    expect(lastBody()).not.toMatch(/[a-z]@[a-z]|«|ß|abcd|cdef/);
  });
});

test('placeholders in ids, names and headers stay', async () => {
  host.script((response, request) => {
    const placeholder = /EMAIL_[A-Z]{13}/.exec(request.body.toString())?.[0] ?? '';
    const answer = answerOf('chat', { text: placeholder }).replace('chatcmpl-1', placeholder);
    json(answer, 200, { 'x-request-id': placeholder })(response, request);
  });

  const { heard, came, headers } = await ask({ text: 'ann@example.com', isStream: false });

  expect(heard).toBe('ann@example.com');
  expect(came).toMatch(/"id":"EMAIL_[A-Z]{13}"/);
  expect(JSON.stringify([...headers])).not.toContain('ann@');
});

test('a fallback in another dialect, after retries, masks the same and restores', async () => {
  host.script(saying((heard) => ({ text: heard }), letters));
  const text = 'ann@example.com and «"quoted"»';

  const { heard, headers } = await ask({ text, isStream: true, model: 'fails' });

  expect(heard).toBe(text);
  expect(headers.get('x-gateway-body')).toBe('masked');
  const sent = [...failing.requests, host.requests.at(-1)].map((request) => request?.body.toString() ?? '');
  expect(sent.length).toBeGreaterThan(1);
  const placeholders = sent.map((body) => /EMAIL_[A-Z]{13}/.exec(body)?.[0]);
  expect(new Set(placeholders).size).toBe(1);
  for (const body of sent) expect(body).not.toMatch(/ann@|quoted/);
});

test.each(['a reload of the same gateway', 'another gateway'])(
  'rules that changed between two turns, by %s: what still is masked has the same placeholder',
  async (change) => {
    host.script(saying((heard) => ({ text: heard })));
    const text = 'ann@example.com and «Muster AG»';
    const first = await startGateway(config(Object.values(rules)));
    try {
      const before = await ask({ text, isStream: false, at: first });
      const [customer = ''] = /CUSTOMER_[A-Z]{13}/.exec(lastBody()) ?? [];
      const [email = ''] = /EMAIL_[A-Z]{13}/.exec(lastBody()) ?? [];
      const isLive = change !== 'another gateway';
      if (isLive) await first.reload(config([rules.names]));

      const after = await ask({
        text: `${before.heard}, ${email}`,
        isStream: false,
        at: isLive ? first : reloaded,
      });

      expect(before.heard).toBe(text);
      expect(lastBody()).toContain(`ann@example.com and ${customer}, ${email}`);
      // Nothing in this request says what the other placeholder was.
      expect(after.heard).toBe(`${text}, ${email}`);
    } finally {
      await first.stop();
    }
  },
);
