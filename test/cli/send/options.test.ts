import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { command, type Environment } from '../../kit/command.ts';
import { useGateway } from '../../kit/lifecycle.ts';
import type { Files } from '../../kit/own-configuration.ts';

const sandbox = useGateway();
const guarded = useGateway(`
policies:
  house:
    apply: all
    rules:
      - { id: cards, action: redact, when: { text: { detect: [credit_card] } } }
      - { id: tickets, action: warn, when: { text: { phrases: ["ticket"] } } }
`);
const card = '4111 1111 1111 1111';

/** `send` at the sandbox. */
function send(argv: readonly string[], { env, ...environment }: Environment = {}) {
  return command(['send', ...argv], {
    gateway: sandbox(),
    env: { GATEWAY_MODEL: 'sandbox-mini', ...env },
    ...environment,
  });
}

async function sentBody(argv: readonly string[]): Promise<unknown> {
  return (await send(['hello', '--dry-run', '-o', 'json', ...argv])).json.body;
}

describe('options by name', () => {
  test.each([
    ['chat', { temperature: 0.5, top_p: 0.9, stop: ['a', 'b'] }],
    ['messages', { temperature: 0.5, top_p: 0.9, stop_sequences: ['a', 'b'] }],
  ])('%s has them where it wants them', async (dialect, expected) => {
    const options = ['--temperature', '0.5', '--top-p', '0.9', '--stop', 'a', '--stop', 'b'];

    expect(await sentBody(['--dialect', dialect, ...options])).toMatchObject(expected);
  });

  test('--set puts any other field, as JSON where it is JSON', async () => {
    const argv = ['--set', 'seed=7', '--set', 'user=someone', '--set', 'metadata.run=a=b'];

    expect(await sentBody(argv)).toMatchObject({ seed: 7, user: 'someone', metadata: { run: 'a=b' } });
  });

  test.each([
    ['a field that has its own option', ['--set', 'model=other']],
    ['no name', ['--set', '=1']],
    ['a prototype', ['--set', '__proto__.x=1']],
    ['a temperature below 0', ['--temperature', '-1']],
    ['--stop in the responses dialect', ['--stop', 'a', '--dialect', 'responses']],
    ['--var without a template', ['--var', 'a=b']],
    ['a schema that is not there', ['--schema', 'none.json']],
  ])('%s is a usage error', async (_name, argv) => {
    expect(await send(['hello', ...argv])).toMatchObject({ exit: 2, stdout: '' });
  });

  test('--no-stdin leaves standard input unread', async () => {
    let wasRead = false;
    const stdin = new Readable({
      read() {
        wasRead = true; // and never ends
      },
    });

    expect((await send(['hello', '--no-stdin'], { stdin })).stdout).toContain('"hello"');
    expect(wasRead).toBe(false);
  });

  test('the default model of gateway.yaml is used where nothing else names one', async () => {
    const files = { 'gateway.yaml': 'default_model: sandbox-long\n' };
    const environment = { files, env: { GATEWAY_MODEL: '' } };

    const named = await send(['hello', '-o', 'json', '-m', 'sandbox-mini'], environment);
    const fallback = await send(['hello', '-o', 'json'], environment);

    expect([named.json.model, fallback.json.model]).toEqual(['sandbox-mini', 'sandbox-long']);
  });

  const unallowed = `default_model: m
providers: { p: { dialect: anthropic, api_key: "\${TOKEN}" } }
models: [{ match: m, provider: p }]
`;
  test.each([
    ['there is none', {}],
    ['it is invalid', { 'gateway.yaml': 'models: [\n' }],
    ['nobody has allowed it', { 'gateway.yaml': unallowed }],
  ])("the called gateway's default model is used where a file names none: %s", async (_what, files) => {
    const env = { GATEWAY_MODEL: '', XDG_CONFIG_HOME: '/nowhere', TOKEN: 't' };
    const { exit, json } = await send(['hello', '-o', 'json'], { files, env });

    expect([exit, json.model]).toEqual([0, 'sandbox-mini']);
  });
});

describe('what a person should know is said on stderr', () => {
  test.each([
    ['a cut answer', ['hello', '--max-tokens', '3'], 'is truncated: it reached the limit of tokens (length)'],
    [
      'a cut answer in another dialect',
      ['hello', '--max-tokens', '3', '--dialect', 'gemini'],
      'is truncated: it reached the limit of tokens (MAX_TOKENS)',
    ],
    ['a redaction', [`my card is ${card}`], 'the policy redacted something in the prompt'],
    ['a warning', ['a ticket'], 'the policy warns about this prompt: tickets'],
  ])('%s', async (_name, argv, expected) => {
    const gateway = guarded();

    expect(await send(argv, { gateway })).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(expected),
    });
    expect((await send([...argv, '-q'], { gateway })).stderr).toBe('');
    expect((await send([...argv, '-o', 'json'], { gateway })).stderr).toBe('');
  });
});

describe('--dry-run', () => {
  const policy = (rule: string): Files => ({
    'gateway.yaml': `policies: { house: { apply: all, rules: [${rule}] } }\n`,
  });
  const codename = policy(
    '{ id: codename, action: block, reason: content.codename, when: { text: { phrases: ["nightfall"] } } }',
  );

  test('shows what would be sent and what the policy says, and sends nothing', async () => {
    const { exit, stdout } = await command('send hello --dry-run', { files: codename });

    expect(exit).toBe(0);
    expect(stdout).toMatch(/^POST \/v1\/chat\/completions\n\{\n {2}"model": "sandbox-mini",/);
    expect(stdout).toContain('"content": "hello"');
    expect(stdout).toMatch(/\npolicy {4}allow \(key local\)\n$/);
  });

  test('what is blocked exits 3, without a request', async () => {
    const before = sandbox().records.length;

    const { exit, json, error } = await send(['project Nightfall', '--dry-run', '-o', 'json'], {
      files: codename,
    });

    expect(exit).toBe(3);
    expect(json).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'sandbox-mini' },
      policy: { decision: 'block', rule: 'codename', at: '/messages/0/content' },
    });
    expect(error.reason).toBe('content.codename');
    expect(sandbox().records.length).toBe(before);
  });

  test.each([
    ['mask', /^to EMAIL_[A-Z]{13}$/],
    ['redact', /^to \[REDACTED:.*\]$/],
  ])('shows what rules %s as it would leave', async (action, content) => {
    const files = policy(`{ id: emails, action: ${action}, when: { text: { detect: [email] } } }`);
    const argv = ['send', 'to ann@example.com', '--dry-run'];

    const text = await command(argv, { files });
    const { exit, stdout, json } = await command([...argv, '-o', 'json'], { files });

    expect([text.exit, exit]).toEqual([0, 0]);
    expect(text.stdout + stdout).not.toContain('ann@');
    expect(json).toMatchObject({
      body: { messages: [{ role: 'user', content: expect.stringMatching(content) }] },
      policy: { decision: action, rule: 'emails' },
    });
    expect(text.stdout).toContain(`policy    ${action} by emails`);
  });
});
