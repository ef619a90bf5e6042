import { expect, test } from 'vitest';
import { speakAll } from '../kit/answers.ts';
import { post, secrets } from '../kit/gateway.ts';
import { useHosts } from '../kit/lifecycle.ts';
import { scale } from '../kit/scale.ts';
import { clients } from './bypass/client-bodies.ts';
import { randomFrom } from './bypass/random-source.ts';

// What clients really send passes the strictest policy, and reaches a provider of its dialect byte for byte.
const hosts = useHosts(
  speakAll,
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}" }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
policies:
  strict:
    apply: all
    opaque_content: block
    unseen_references: block
    rules:
      - { id: models, action: block, when: { model: ["gpt-4*", "*opus*"] } }
      - { id: length, action: block, when: { max_output_tokens: { over: 64000 } } }
      - { id: tools, action: block, when: { tools: [python, web_search, "computer*", code_interpreter] } }
      - { id: phrases, action: block, when: { text: { phrases: ["project nightfall", "internal use only"] } } }
      - id: found
        action: block
        when: { text: { detect: [credit_card, iban, us_ssn, phone, secrets, private_key, gateway_key] } }
      - { id: removed, action: redact, when: { text: { detect: [email] } } }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`,
);

test.each(clients)('50 requests of %s pass unchanged', async (name, path, create) => {
  const { gateway, openai, anthropic } = hosts();
  const stopped: string[] = [];

  for (let seed = 1; seed <= scale(10, 50); seed += 1) {
    const body = JSON.stringify(create(randomFrom(seed * 7_919 + name.length)));
    const answer = await post({ ...gateway, key: secrets.PROJECT_KEY }, path, body);
    const text = await answer.text();
    const received = [openai, anthropic]
      .flatMap(({ requests }) => requests)
      .filter((each) => each.body.equals(Buffer.from(body)));
    if (answer.status !== 200 || received.length === 0)
      stopped.push(`${seed}: ${answer.status} ${text} ${body}`);
    const form = answer.headers.get('x-gateway-body') ?? 'exact';
    if (form !== 'exact') stopped.push(`${seed}: ${form}`);
  }

  expect(stopped).toEqual([]);
});
