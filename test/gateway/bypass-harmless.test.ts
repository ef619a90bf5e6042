import { expect, test } from 'vitest';
import { json } from '../kit/answers.ts';
import { secrets } from '../kit/gateway.ts';
import { useHosts } from '../kit/lifecycle.ts';
import { head, sendRaw } from '../kit/raw.ts';
import { harmless } from './bypass/harmless.ts';

const hosts = useHosts(
  json('{"data":[]}'),
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}" }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: embed, provider: gpt }
policies:
  house:
    apply: all
    rules:
      - { id: models, action: block, unless: { model: [claude-test, gpt-test, embed] } }
      - { id: short-answers, action: block, when: { max_output_tokens: { over: 1000 } } }
      - { id: no-tools, action: block, when: { tools: [python, "computer_*"] } }
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall", "top secret"] } } }
      - { id: tickets, action: block, when: { text: { regex: ['\\bTCK-[0-9]{6}\\b', '(?i)internal use only'] } } }
      - id: detectors
        action: block
        when:
          text: { detect: [credit_card, email, phone, iban, us_ssn, ip_address, secrets, private_key, gateway_key] }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`,
);
const targets = {
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
};

test.each(harmless.map((request) => [request.name, request] as const))(
  '%s passes',
  async (_name, request) => {
    const { gateway, openai, anthropic } = hosts();
    const body = Buffer.from(JSON.stringify(request.body));

    const answer = await sendRaw(
      gateway.port,
      head(
        `POST ${request.target ?? targets[request.endpoint]} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${secrets.PROJECT_KEY}`,
        'Content-Type: application/json',
        ...(request.headers ?? []),
        `Content-Length: ${body.length}`,
      ),
      body,
    );

    const rules = gateway.records.at(-1)?.rules;
    expect({ status: answer.status, rules, body: answer.headers.get('x-gateway-body') }).toEqual({
      status: 200,
      rules: undefined,
      body: ['exact'],
    });
    const last = [...openai.requests, ...anthropic.requests].find((each) => each.body.equals(body));
    expect(last?.body.equals(body)).toBe(true);
  },
);

test('there are enough of them', () => {
  expect(harmless.length).toBeGreaterThanOrEqual(60);
});
