import { expect, test } from 'vitest';
import { speakAll } from '../kit/answers.ts';
import { clients } from '../kit/client-bodies.ts';
import { post, secrets } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { createRandom } from '../kit/random.ts';
import { scale } from '../kit/scale.ts';
import { targetOf } from './bypass/case.ts';
import { harmless } from './bypass/harmless.ts';

// What clients really send passes the strictest policy, and reaches a provider of its dialect byte for byte.
const { anthropic, openai, gateway } = await startHosts(
  speakAll,
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}" }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}" }
  google: { dialect: gemini, base_url: "${openai}", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: "gemini-*", provider: google }
  - { match: embed, provider: gpt }
policies:
  strict:
    apply: all
    rules:
      - { id: models, action: block, when: { model: ["gpt-4*", "*opus*"] } }
      - { id: length, action: block, when: { max_output_tokens: { over: 64000 } } }
      - { id: tools, action: block, when: { tools: [python, web_search, "computer*", code_interpreter] } }
      - { id: phrases, action: block, when: { text: { phrases: ["project nightfall", "internal use only", "top secret"] } } }
      - { id: tickets, action: block, when: { text: { regex: ['\\bTCK-[0-9]{6}\\b', '(?i)internal use only'] } } }
      - id: found
        action: block
        when:
          text: { detect: [credit_card, email, phone, iban, us_ssn, ip_address, secrets, private_key, gateway_key] }
  closed: { opaque_content: block, unseen_references: block }
projects:
  shop: { policies: [closed], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`,
);

/** What became of a body: a status, its form, the rules that matched, and whether a host has it as it was sent. */
async function send(path: string, body: string, headers = {}) {
  const answer = await post(gateway, path, body, { headers });
  await answer.arrayBuffer();
  const requests = [...openai.requests, ...anthropic.requests];
  return {
    status: answer.status,
    form: answer.headers.get('x-gateway-body'),
    rules: gateway.records.at(-1)?.rules,
    isThere: requests.some((request) => request.body.equals(Buffer.from(body))),
  };
}

const passed = { status: 200, form: 'exact', rules: undefined, isThere: true };

test.each(harmless)('%s: %s', async (endpoint, _name, body) => {
  expect(await send(targetOf(endpoint), JSON.stringify(body))).toEqual(passed);
});

test.each(clients)('requests of %s', async (name, path, create) => {
  for (let seed = 1; seed <= scale(5, 50); seed += 1) {
    const body = JSON.stringify(create(createRandom(seed * 7_919 + name.length)));
    // Encrypted thoughts are references that nobody sees, and all the same nothing that a rule finds.
    const headers = body.includes('"thoughtSignature"')
      ? { authorization: `Bearer ${secrets.OTHER_KEY}` }
      : {};

    expect({ body, ...(await send(path, body, headers)) }).toEqual({ body, ...passed });
  }
});
