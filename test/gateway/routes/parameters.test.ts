// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { describe, expect, test } from 'vitest';
import { inspectConfig } from '../../../src/config/load.ts';
import { decideOffline } from '../../../src/gateway/offline/decide-offline.ts';
import { explainRequest } from '../../../src/gateway/offline/explain-request.ts';
import { destinationNamed } from '../../../src/gateway/offline/question.ts';
import { createWorkspace, nowMs } from '../../config/workspace.ts';
import { json, speakAll } from '../../kit/answers.ts';
import { configFrom, projects, secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';

const host = await startHost(speakAll);
const settings = 'retries: { attempts: 1 }, breaker: { failures: 1000 }';
const providers = `
server: { port: 0 }
providers:
  claude: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", ${settings} }
  gpt: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], ${settings} }
`;
const entry = (more: string, rules = '') =>
  `${providers}models:\n  - { match: "claude-*", provider: claude, ${more} }\n  - { match: "gpt-*", provider: gpt, ${more} }\n${rules}`;
const rule = (settings: string) => `policies: { house: { apply: all, rules: [{ id: r, ${settings} }] } }\n`;

async function ask(
  yaml: string,
  body: string,
  { path = '/v1/messages', headers = [] }: { path?: string; headers?: readonly string[] } = {},
) {
  const gateway = await startGateway(yaml + projects);
  const before = host.requests.length;
  const answer = await postRaw(gateway, path, Buffer.from(body), [
    ...['content-type: application/json', `x-api-key: ${gateway.key}`, ...headers],
  ]);
  const id = answer.headers.get('x-request-id')?.[0];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  const sent = host.requests.slice(before).map((request) => ({
    text: request.body.toString(),
    headers: Object.fromEntries(request.headers),
  }));
  await gateway.stop();
  return { status: answer.status, text: answer.body.toString(), record, sent };
}

const hello =
  '{ "model":"claude-1" ,"max_tokens":9,"messages":[ {"role":"user","content":"hi"} ], "top_k":3,"x":9007199254740993}';

describe('members that an entry changes', () => {
  test("are spliced into the client's bytes, and recorded", async () => {
    const { record, sent } = await ask(
      entry('set: { temperature: 0.5 }, default: { top_p: 1 }, remove: [top_k]'),
      hello,
    );

    expect(sent[0]?.text).toBe(
      '{"temperature":0.5,"top_p":1, "model":"claude-1" ,"max_tokens":9,"messages":[ {"role":"user","content":"hi"} ], "x":9007199254740993}',
    );
    expect(record).toMatchObject({ body: 'spliced', changed: ['temperature', 'top_p', 'top_k'] });
  });

  test('are those of the translated body, where it is translated', async () => {
    const { record, sent } = await ask(
      entry('set: { reasoning_effort: low }, remove: [temperature]'),
      '{"model":"gpt-1","max_tokens":9,"temperature":1,"messages":[{"role":"user","content":"hi"}]}',
    );

    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ reasoning_effort: 'low' });
    expect(JSON.parse(sent[0]?.text ?? '')).not.toHaveProperty('temperature');
    expect(record).toMatchObject({ body: 'translated', changed: ['reasoning_effort', 'temperature'] });
  });

  test('are in bodies that a thread decides on', async () => {
    const text = 'word '.repeat(80_000);
    const body = JSON.stringify({
      model: 'claude-1',
      max_tokens: 9,
      messages: [{ role: 'user', content: text }],
    });
    const { status, sent } = await ask(entry('set: { temperature: 0.5 }'), body);

    expect(status).toBe(200);
    expect(sent[0]?.text).toBe(`{"temperature":0.5,${body.slice(1)}`);
  });

  test('are of what generates: a count of tokens stays as it is', async () => {
    const body = '{"model":"claude-1","messages":[{"role":"user","content":"hi"}]}';
    const { sent, record } = await ask(entry('set: { temperature: 0.5 }'), body, {
      path: '/v1/messages/count_tokens',
    });

    expect(sent[0]?.text).toBe(body);
    expect(record.changed).toBeUndefined();
  });

  test('are for their target alone: a fallback has its own', async () => {
    host.script((response, request) =>
      request.target.includes('messages') ? json('{}', 529)(response, request) : speakAll(response, request),
    );
    const { sent, record } = await ask(
      entry(
        'set: { temperature: 0.5 }, headers: { x-a: "1" }, fallbacks: [{ provider: gpt, model: g, set: { verbosity: low } }]',
      ),
      hello,
    );
    host.script(speakAll);

    expect(sent).toHaveLength(2);
    expect(JSON.parse(sent[1]?.text ?? '')).toMatchObject({ model: 'g', verbosity: 'low' });
    expect(JSON.parse(sent[1]?.text ?? '')).not.toHaveProperty('temperature');
    expect(sent[1]?.headers).not.toHaveProperty('x-a');
    expect(record.changed).toEqual(['verbosity']);
  });

  test.each([
    ['text', rule('action: block, when: { text: { phrases: ["deepinfra"] } }'), 'claude-1'],
    ['text, translated', rule('action: block, when: { text: { phrases: ["deepinfra"] } }'), 'gpt-1'],
    ['thinking', rule('action: block, when: { thinking: true }'), 'claude-1'],
  ])('are decided on as what leaves: %s', async (_, rules, model) => {
    const { status, sent, record } = await ask(
      entry(
        'set: { provider.order: [deepinfra], thinking.type: enabled, thinking.budget_tokens: 1024, reasoning_effort: high }',
        rules,
      ),
      hello.replace('claude-1', model),
    );

    expect(status).toBe(403);
    expect(sent).toEqual([]);
    expect(record).toMatchObject({ decision: 'block', rules: [{ id: 'r', on: 'outgoing' }] });
  });

  test('are redacted like any other text, beside what the client said', async () => {
    const { sent, record } = await ask(
      entry(
        'set: { provider.order: [a@b.example] }',
        rule('action: redact, when: { text: { detect: [email] } }'),
      ),
      hello.replace('"hi"', '"from c@d.example"'),
    );

    expect(sent[0]?.text).not.toContain('.example');
    expect(record).toMatchObject({ body: 'redacted', changed: ['provider.order'] });
  });
});

describe('headers that an entry writes', () => {
  test("replace the client's own, and are recorded by name", async () => {
    const { sent, record } = await ask(entry('headers: { X-App: "shop", x-title: "of the file" }'), hello, {
      headers: ['x-app: mine'],
    });

    expect(sent[0]?.headers).toMatchObject({ 'x-app': 'shop', 'x-title': 'of the file' });
    expect(record.changed).toEqual(['header:x-app', 'header:x-title']);
  });

  test('from a variable are secrets: no request may hold one, and no answer has it', async () => {
    const yaml = entry(
      'headers: { x-account: "${HEADER_KEY}" }',
      rule('action: redact, when: { text: { detect: [secrets] } }'),
    );
    const { sent } = await ask(yaml, hello);
    const leaking = await ask(yaml, hello.replace('"hi"', JSON.stringify(`it is ${secrets.HEADER_KEY}`)));
    const mirrored = await (async () => {
      host.script(json(JSON.stringify({ error: { message: secrets.HEADER_KEY } }), 400));
      const answer = await ask(yaml, hello);
      host.script(speakAll);
      return answer;
    })();

    expect(sent[0]?.headers).toMatchObject({ 'x-account': secrets.HEADER_KEY });
    expect(leaking.status).toBe(403);
    expect(leaking.sent).toEqual([]);
    expect(mirrored.text).not.toContain(secrets.HEADER_KEY);
  });

  test('of the file are texts: one that a rule redacts is left out', async () => {
    const { sent, record } = await ask(
      entry(
        'headers: { x-title: "of a@b.example" }',
        rule('action: redact, when: { text: { detect: [email] } }'),
      ),
      hello,
    );

    expect(sent[0]?.headers).not.toHaveProperty('x-title');
    expect(record.dropped).toEqual(['header:x-title']);
    expect(record.changed).toBeUndefined();
  });
});

test('explain names what is changed, and decides on it', async () => {
  const config = await configFrom(
    entry(
      'set: { provider.order: [deepinfra] }, headers: { x-title: t }',
      rule('action: block, when: { text: { phrases: ["deepinfra"] } }'),
    ) + projects,
  );
  const key = [...config.keys.records()][0];
  if (key === undefined) throw new Error('there is no key');
  const question = { config, key, body: Buffer.from(hello), nowMs: 0, ...destinationNamed('messages') };

  expect((await decideOffline(question)).predicted).toMatchObject({ decision: 'block', rule: 'r' });
  expect((await explainRequest(question)).outgoing).toMatchObject([
    { target: 'claude/claude-1', changed: ['provider.order', 'header:x-title'], decision: 'block' },
  ]);
});

describe('a configuration', () => {
  const check = async (more: string, env: Readonly<Record<string, string>> = {}) => {
    const yaml = `providers: { p: { dialect: anthropic, api_key: "\${ANTHROPIC_API_KEY}" } }\nmodels: [{ match: m, provider: p, ${more} }]`;
    const cwd = createWorkspace({ 'gateway.yaml': yaml });
    const found = await inspectConfig({
      cwd,
      env: { HOME: cwd, ANTHROPIC_API_KEY: 'k'.repeat(20), ...env },
      nowMs,
    });
    return {
      errors: found.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
      wants: found.pending.map(({ text }) => text),
    };
  };

  // biome-ignore format: a list
  const never = ['model', 'messages', 'input', 'contents', 'system', 'instructions', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'generationConfig.maxOutputTokens', 'reasoning.max_tokens', 'tools', 'tool_choice', 'store', 'metadata', 'previous_response_id', 'background', 'stream', 'n', 'service_tier', 'models', 'plugins', 'temperature.x', '', 'provider', 'provider.zdr.x', ...['chat_template', 'messages', 'conversation', 'tools', 'builtin_tools', 'documents', 'tokenize', 'add_generation_prompt', 'continue_final_message', 'max_length', 'x.y'].map((name) => `chat_template_kwargs.${name}`)];
  test.each(never)('never sets or removes %s', async (member) => {
    for (const change of [
      `set: { "${member}": x }`,
      `default: { "${member}": x }`,
      `remove: ["${member}"]`,
    ]) {
      const { errors } = await check(change);
      expect(errors.join(), change).toContain('not a member that can be set here');
    }
  });

  test.each(['provider.zdr', 'provider.data_collection', 'provider.only', 'provider.ignore'])(
    'never removes %s, by which a client says what is kept and who may have its texts',
    async (member) => {
      expect((await check(`remove: ["${member}"]`)).errors.join()).toContain("can't be removed");
    },
  );

  // biome-ignore format: a case a line
  test.each([
    ['provider.data_collection: deny', true], ['provider.zdr: true', true], ['provider.zdr: false', false],
    ['provider.only: [a]', true], ['provider.only: []', false], ['provider.ignore: []', false],
    ['chat_template_kwargs.enable_thinking: false', true], ['chat_template_kwargs.thinking_budget: 512', true],
    ['chat_template_kwargs.reasoning_effort: high', true], ['chat_template_kwargs.reasoning_effort: "Ignore all"', false],
    ['chat_template_kwargs.model_identity: high', false], ['chat_template_kwargs.enable_thinking: "false"', false],
    ['chat_template_kwargs.enable_thinking: [true]', false], ['chat_template_kwargs.reasoning_effort: [high]', false],
  ])('takes { %s }: %s', async (member, isTaken) => {
    for (const change of ['set', 'default']) {
      const { errors } = await check(`${change}: { ${member.replace(/^[^:]+/, '"$&"')} }`);
      expect(!/can only be|names no host/.test(errors.join()), `${change}: ${errors.join()}`).toBe(isTaken);
    }
  });

  test.each([
    'authorization',
    'x-api-key',
    'x-goog-api-key',
    'host',
    'cookie',
    'content-type',
    'x-gateway-key',
  ])('never writes the header %s', async (name) => {
    expect((await check(`headers: { ${name}: x }`)).errors.join()).toMatch(/never (?:set|passed on)/);
  });

  test.each([
    ['set: { temperature: 1 }, default: { temperature: 0 }', 'temperature stands here more than once'],
    ['set: { provider.data_collection: allow }', 'can only be "deny"'],
    ['headers: { x-a: "${MISSING}" }', 'MISSING is not set'],
  ])('with %s is wrong', async (more, message) => {
    expect((await check(more)).errors.join()).toContain(message);
  });

  test('that was found asks for each change, and where a variable goes', async () => {
    const { wants } = await check(
      'set: { temperature: 1 }, default: { verbosity: low }, remove: [top_k], headers: { x-a: "b", x-c: "${TOKEN}" }, fallbacks: [{ provider: p, model: n, set: { seed: 1 } }]',
      { TOKEN: 't'.repeat(20) },
    );

    expect(wants).toEqual([
      'requests to https://api.anthropic.com have temperature 1',
      'requests to https://api.anthropic.com have verbosity low where there is none',
      'requests to https://api.anthropic.com have no top_k',
      'requests to https://api.anthropic.com have the header x-a: b',
      'requests to https://api.anthropic.com have the header x-c',
      'TOKEN goes to https://api.anthropic.com',
      'requests to https://api.anthropic.com have seed 1',
    ]);
  });
});
