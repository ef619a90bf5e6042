import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { post, secrets, startGateway, type TestGateway } from '../../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { scale } from '../../kit/scale.ts';
import { type Dialect, dialects, saying } from './saying.ts';

// Values × kinds × fields of the answer × dialects of client and provider × where the stream is split: nothing of a value
// leaves, and the answer is that of the same request without masks.

let host: ScriptedHost;
let gateway: TestGateway;

beforeAll(async () => {
  host = await startHost(() => undefined);
  const provider = (name: Dialect, family: string, path: string) =>
    `  ${name}: { dialect: ${family}, base_url: "${host.url}${path}", api_key: "\${PROVIDER_KEY}", endpoints: [${name}], breaker: { failures: 1000 } }`;
  gateway = await startGateway(`
providers:
${provider('messages', 'anthropic', '')}
${provider('chat', 'openai', '/v1')}
${provider('responses', 'openai', '/v1')}
models:
${dialects.map((name) => `  - { match: at-${name}, provider: ${name}, model: m }`).join('\n')}
policies:
  masking:
    rules:
      - { id: found, action: mask, when: { text: { detect: [email, { secrets: possible }, iban, credit_card, private_key] } } }
      - { id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }
projects:
  shop: { policies: [masking], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
plants: { store: { enabled: false } }
`);
});

afterAll(async () => {
  await host.close();
  await gateway.stop();
});

/** By kind: the text that holds it, and the value. */
const values: Readonly<Record<string, readonly [text: string, value: string]>> = {
  email: ['write to ann@example.com today', 'ann@example.com'],
  key: ['OPENAI_API_KEY=sk-proj-abc123def456ghi789jkl012mno345pqr678stu901vwx234', 'sk-proj-abc123def456'],
  password: ['DB_PASSWORD=gT7kQ2vLp9xR4m', 'gT7kQ2vLp9xR4m'],
  card: ['card 4111 1111 1111 1111 expires', '4111 1111 1111 1111'],
  account: ['IBAN DE89 3704 0044 0532 0130 00', '0532 0130 00'],
  quoted: ['the customer «"Ann" \\ & <b>» called', '"Ann"'],
  lines: ['the note «one\n\ttwo\r\n\u0000 🌿» ends', 'one'],
  unicode: ['the name «Łódź 東京 \u2028 é» there', 'Łódź'],
  short: ['the letter «x» there', '«x»'],
};

const fields = {
  text: (heard: string) => ({ text: `I heard ${heard}` }),
  'structured output': (heard: string) => ({ text: JSON.stringify({ a: { b: [heard] } }) }),
  'a call': (heard: string) => ({
    text: 'x',
    input: JSON.stringify({ command: `echo ${heard}`, list: [heard] }),
  }),
  'JSON in a call': (heard: string) => ({
    text: 'x',
    input: JSON.stringify({ content: JSON.stringify({ deep: JSON.stringify({ deeper: heard }) }) }),
  }),
  reasoning: (heard: string) => ({ text: 'x', thinking: `He said ${heard}` }),
} as const;

const paths = { messages: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' } as const;

const bodies: Readonly<Record<Dialect, (text: string) => object>> = {
  messages: (text) => ({
    max_tokens: 64,
    messages: [{ role: 'user', content: text }],
    tools: [{ name: 'run', input_schema: { type: 'object' } }],
  }),
  chat: (text) => ({
    messages: [{ role: 'user', content: text }],
    tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
  }),
  responses: (text) => ({
    input: text,
    tools: [{ type: 'function', name: 'run', parameters: { type: 'object' }, strict: false }],
  }),
};

/** What a client puts together of an answer: each text by where it is, pieces of a stream one behind the other. */
function heard(came: string, isStream: boolean): Readonly<Record<string, string>> {
  const events = isStream
    ? [...came.matchAll(/^data: (\{[^\n]*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown)
    : [JSON.parse(came) as unknown];
  const texts: Record<string, string> = {};
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') texts[path] = (texts[path] ?? '') + value;
    else if (typeof value === 'object' && value !== null) {
      const { type = '', index = '', output_index = '' } = value as Record<string, string>;
      for (const [name, inner] of Object.entries(value))
        if (!/^(?:id|item_id|call_id|sequence_number|created|created_at|type|object|model|role)$/.test(name))
          // Only the first piece of a chat's call has a type.
          walk(inner, `${path}/${type === 'function' ? '' : type}${index}${output_index}/${name}`);
    }
  };
  for (const event of events) walk(event, '');
  return texts;
}

const pairs = dialects.flatMap((client) => dialects.map((provider) => ({ client, provider })));

describe.each(pairs)('a $client client at a $provider provider', ({ client, provider }) => {
  // Thinking may be signed in the Messages dialect, so it stays as it came.
  const names = Object.keys(fields).filter((field) => client !== 'messages' || field !== 'reasoning');

  test.each(names as (keyof typeof fields)[])('%s: none leaves, all come back', async (field) => {
    const counts = { answers: 0, left: 0, different: 0 };
    const ask = async (key: string, text: string, isStream: boolean) => {
      const body = { model: `at-${provider}`, stream: isStream, ...bodies[client](text) };
      const init = { headers: { authorization: `Bearer ${key}` } };
      return heard(await (await post(gateway, paths[client], body, init)).text(), isStream);
    };
    for (const [text, value] of Object.values(values)) {
      host.script(saying(fields[field]));
      const whole = [await ask(secrets.OTHER_KEY, text, false), await ask(secrets.PROJECT_KEY, text, false)];
      const answers = [whole];
      // Pieces of so many characters: each position of a placeholder is a seam in one of them.
      for (let size = 1; size <= 24; size += scale(7, 1)) {
        host.script(
          saying(fields[field], (long) => long.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []),
        );
        answers.push([await ask(secrets.OTHER_KEY, text, true), await ask(secrets.PROJECT_KEY, text, true)]);
      }
      for (const [plain, masked] of answers) {
        counts.answers += 1;
        if (JSON.stringify(plain) !== JSON.stringify(masked)) counts.different += 1;
      }
      const written = JSON.stringify(value).slice(1, -1);
      const masked = host.requests.slice(-2 * answers.length).filter((_, at) => at % 2 === 1);
      counts.left += masked.filter(({ body }) => body.includes(written)).length;
      if (!host.requests.at(-2)?.body.includes(written))
        throw new Error('the value is not to be seen unmasked');
    }

    expect(counts).toEqual({ answers: Object.keys(values).length * scale(5, 25), left: 0, different: 0 });
  });
});
