import { describe, expect, test } from 'vitest';
import { json, messagesAnswer, speakAll } from '../../kit/answers.ts';
import { projects, startGateway } from '../../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';

const local = await startHost(speakAll);
const cloud = await startHost(speakAll);
const other = await startHost(speakAll);

const providers = `
server: { port: 0 }
providers:
  ollama: { dialect: anthropic, base_url: "${local.url}", endpoints: [messages, count_tokens], retries: { attempts: 1 }, breaker: { failures: 1000 } }
  claude: { dialect: anthropic, base_url: "${cloud.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 }, breaker: { failures: 1000 } }
  gpt: { dialect: openai, base_url: "${other.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat], retries: { attempts: 1 }, breaker: { failures: 1000 } }
`;

const configured = (more: string) => startGateway(`${providers}${more}${projects}`);

interface Asked {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Asks with a text, and says which host got it. */
async function ask(
  gateway: Awaited<ReturnType<typeof startGateway>>,
  text: string,
  { body = {}, headers = {}, path = '/v1/messages' }: Asked = {},
) {
  const hosts = Object.entries({ ollama: local, claude: cloud, gpt: other });
  const before = hosts.map(([, host]) => host.requests.length);
  const whole = {
    model: 'claude-test',
    max_tokens: 9,
    messages: [{ role: 'user', content: text }],
    ...body,
  };
  const lines = Object.entries({ 'content-type': 'application/json', 'x-api-key': gateway.key, ...headers });
  const answer = await postRaw(
    gateway,
    path,
    whole,
    lines.map(([name, value]) => `${name}: ${value}`),
  );
  const got = hosts.flatMap(([name, host], i) => (host.requests.length > (before[i] ?? 0) ? [name] : []));
  const id = answer.headers.get('x-request-id')?.[0];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  return { got, status: answer.status, text: answer.body.toString(), record };
}

const byText = `
models:
  - { match: "claude-*", when: { text: { phrases: ["Muster AG"] } }, provider: ollama, model: qwen3-coder }
  - { match: "claude-*", provider: claude }
`;

describe('a text that stays here', () => {
  test('goes to the entry that names it, and everything else to the next; the record says why', async () => {
    const gateway = await configured(byText);

    const kept = await ask(gateway, 'the contract of MUSTER AG');
    const rest = await ask(gateway, 'the contract of nobody');

    expect(kept.got).toEqual(['ollama']);
    expect(JSON.parse(local.requests.at(-1)?.body.toString() ?? '').model).toBe('qwen3-coder');
    expect(kept.record).toMatchObject({
      provider: 'ollama',
      target_model: 'qwen3-coder',
      route: { entry: 0, by: [{ matcher: 'text', at: '/messages/0/content', count: 1 }] },
    });
    expect(rest.got).toEqual(['claude']);
    expect(rest.record.route).toEqual({ entry: 1, by: [] });
  });

  test('is refused where its host is down, and not sent elsewhere', async () => {
    const gateway = await configured(byText);
    local.script(json('{"error":{"message":"down"}}', 503));

    const down = await ask(gateway, 'for Muster AG');
    local.script(speakAll);

    expect(down.got).toEqual(['ollama']);
    expect(down.status).toBe(503);
  });

  test('is refused where its provider is not configured, and not sent elsewhere', async () => {
    const gateway = await startGateway(
      `${providers.replace('ollama: {', 'ollama: { api_key: "$' + '{NOT_SET}",')}${byText}${projects}`,
    );

    const kept = await ask(gateway, 'for Muster AG');

    expect(kept.got).toEqual([]);
    expect(kept.status).toBe(503);
    expect(kept.text).toContain('is not configured');
  });

  test('is refused where its provider cannot take the request, unless another entry claims it', async () => {
    const models = (second: string) => `
models:
  - { match: "claude-*", when: { text: { phrases: ["Muster AG"] } }, provider: gpt, unsupported_content: refuse }
  - { match: "claude-*", ${second}provider: claude }
`;
    const body = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Muster AG' }, document] }] };
    const plain = await configured(models(''));
    const claimed = await configured(models('when: { documents: true }, '));

    const refused = await ask(plain, '', { body });
    const taken = await ask(claimed, '', { body });

    expect(refused).toMatchObject({ got: [], status: 400 });
    expect(taken.got).toEqual(['claude']);
    expect(taken.record.route).toMatchObject({ entry: 1, by: [{ matcher: 'documents' }] });
  });

  test('is found before it is masked or redacted', async () => {
    const gateway = await configured(`${byText}
policies:
  house:
    apply: all
    rules:
      - { id: names, action: redact, when: { text: { phrases: ["Muster AG"] } }, reason: content.customer }
`);

    const kept = await ask(gateway, 'for Muster AG');

    expect(kept.got).toEqual(['ollama']);
    expect(local.requests.at(-1)?.body.toString()).not.toContain('Muster');
  });

  test('of a body that a thread reads goes the same way', async () => {
    const gateway = await configured(byText);

    const kept = await ask(gateway, `${'words '.repeat(60_000)} Muster AG`);

    expect(kept.got).toEqual(['ollama']);
    expect(kept.record.route?.entry).toBe(0);
  });
});

const document = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
};
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const saying = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

describe('a condition on', () => {
  test.each<[string, string, Asked, Asked]>([
    [
      'the size',
      'input_tokens: { over: 1000 }',
      { body: saying({ type: 'text', text: 'word '.repeat(2_000) }) },
      {},
    ],
    ['images', 'images: true', { body: saying(image) }, { body: saying(document) }],
    ['documents', 'documents: true', { body: saying(document) }, { body: saying(image) }],
    ['thinking', 'thinking: true', { body: { thinking: { type: 'enabled', budget_tokens: 1_024 } } }, {}],
    [
      'the agent',
      'client: [claude]',
      { headers: { 'user-agent': 'claude-cli/2.1.332 (external, cli)' } },
      {},
    ],
    [
      'what it is for',
      'class: ["compact*"]',
      { headers: { 'x-claude-code-request-class': 'compaction' } },
      { headers: { 'x-claude-code-request-class': 'main' } },
    ],
    ['its session', 'session: ["nightly-*"]', { headers: { 'x-gateway-session': 'nightly-7' } }, {}],
    [
      'a session in its body',
      'session: ["*"]',
      { body: { metadata: { user_id: 'user_1_account__session_abc' } } },
      {},
    ],
    ['a stream', 'stream: true', { body: { stream: true } }, {}],
    ['its project', 'project: [shop]', {}, { headers: { 'x-api-key': 'other-project-key-0123456789' } }],
  ])('%s chooses the entry', async (_what, condition, holding, failing) => {
    const gateway = await configured(`
models:
  - { match: "claude-*", when: { ${condition} }, provider: ollama }
  - { match: "claude-*", unless: { ${condition} }, provider: claude }
`);

    const held = await ask(gateway, 'hello', holding);
    const failed = await ask(gateway, 'hello', failing);

    expect(held.got).toEqual(['ollama']);
    expect(failed.got).toEqual(['claude']);
  });

  test('several things holds if all do', async () => {
    const gateway = await configured(`
models:
  - { match: "claude-*", when: { images: true, text: { phrases: ["Muster AG"] } }, provider: ollama }
  - { match: "claude-*", provider: claude }
`);
    const text = { type: 'text', text: 'Muster AG' };

    expect((await ask(gateway, '', { body: saying(text, image) })).got).toEqual(['ollama']);
    expect((await ask(gateway, '', { body: saying(text) })).got).toEqual(['claude']);
    expect((await ask(gateway, '', { body: saying(image) })).got).toEqual(['claude']);
  });
});

test('names that lead to each other, and an entry to itself, are looked up once', async () => {
  const gateway = await configured(`
models:
  - { match: claude-a, provider: claude, model: claude-b }
  - { match: claude-b, provider: claude, model: claude-a }
  - { match: claude-c, provider: claude, model: claude-c, fallbacks: [{ provider: claude, model: claude-a }] }
`);
  const sent = async (model: string) => {
    const before = cloud.requests.length;
    expect((await ask(gateway, 'hi', { body: { model } })).status).toBe(200);
    return cloud.requests.slice(before).map(({ body }) => JSON.parse(body.toString()).model);
  };

  expect(await sent('claude-a')).toEqual(['claude-b']);
  expect(await sent('claude-b')).toEqual(['claude-a']);
  expect(await sent('claude-c')).toEqual(['claude-c']);
});

test('a request that no entry takes is refused with the reason', async () => {
  const gateway = await configured(`
models:
  - { match: "claude-*", when: { images: true }, provider: claude }
`);

  const refused = await ask(gateway, 'no image');

  expect(refused).toMatchObject({ got: [], status: 404 });
  expect(refused.text).toContain('the conditions of none hold');
});

test('counting tokens goes the way of the request itself', async () => {
  const gateway = await configured(byText);

  const kept = await ask(gateway, 'for Muster AG', { path: '/v1/messages/count_tokens' });

  expect(kept.got).toEqual(['ollama']);
});

describe('a rule that names providers', () => {
  const rule = `
policies:
  house:
    apply: all
    rules:
      - { id: stays, action: block, when: { text: { phrases: ["Muster AG"] } }, unless: { provider: [ollama] }, reason: content.customer }
`;

  test('refuses a text to every other provider', async () => {
    const gateway = await configured(`${rule}
models:
  - { match: "claude-*", provider: claude }
`);

    const refused = await ask(gateway, 'for Muster AG');

    expect(refused).toMatchObject({ got: [], status: 403 });
    expect(refused.record).toMatchObject({ decision: 'block', rules: [{ id: 'stays' }] });
    expect((await ask(gateway, 'for nobody')).got).toEqual(['claude']);
  });

  test('leaves out the fallbacks to which it refuses a request', async () => {
    const gateway = await configured(`${rule}
models:
  - { match: "claude-*", provider: ollama, fallbacks: [{ provider: claude }] }
`);
    local.script(json('{"error":{"message":"down"}}', 503));

    const kept = await ask(gateway, 'for Muster AG');
    const rest = await ask(gateway, 'for nobody');
    local.script(speakAll);

    expect(kept).toMatchObject({ got: ['ollama'], status: 503 });
    expect(rest.got).toEqual(['ollama', 'claude']);
  });

  test('is asked again for what a header says', async () => {
    const gateway = await configured(`${rule}
models:
  - { match: "claude-*", provider: ollama, fallbacks: [{ provider: claude }] }
`);
    local.script(json('{"error":{"message":"down"}}', 503));

    const kept = await ask(gateway, 'hello', { headers: { 'anthropic-beta': 'Muster AG' } });
    local.script(speakAll);

    expect(kept.got).not.toContain('claude');
  });

  test('replaces a text where any of those that may be tried is not excepted', async () => {
    const gateway = await configured(`
policies:
  house:
    apply: all
    rules:
      - { id: names, action: redact, when: { text: { phrases: ["Muster AG"] } }, unless: { provider: [ollama] }, reason: content.customer }
models:
  - { match: "claude-local", provider: ollama }
  - { match: "claude-*", provider: claude }
`);

    await ask(gateway, 'for Muster AG', { body: { model: 'claude-local' } });
    await ask(gateway, 'for Muster AG');

    expect(last(local)).toContain('Muster AG');
    expect(last(cloud)).toContain('[REDACTED:content.customer]');
  });
});

function last({ requests }: ScriptedHost): string {
  return requests.at(-1)?.body.toString() ?? '';
}

test('a reload takes other conditions, and requests without one go as before', async () => {
  const gateway = await configured(byText);
  local.script(json(messagesAnswer));
  expect((await ask(gateway, 'Muster AG')).got).toEqual(['ollama']);

  await gateway.reload(`${providers}models: [{ match: "claude-*", provider: claude }]${projects}`);
  const after = await ask(gateway, 'Muster AG');
  local.script(speakAll);

  expect(after.got).toEqual(['claude']);
  expect(after.record.route).toBeUndefined();
});
