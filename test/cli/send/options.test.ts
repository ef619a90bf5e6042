import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { speakAll } from '../../kit/answers.ts';
import { command, emptyDirectory } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { useGateway, useHosts } from '../../kit/lifecycle.ts';

const sandbox = useGateway();
const guarded = useGateway(`
policies:
  house:
    apply: all
    rules:
      - { id: cards, action: redact, when: { text: { detect: [credit_card] } } }
      - { id: tickets, action: warn, when: { text: { phrases: ["ticket"] } } }
`);
const hosts = useHosts(speakAll, (urls) => twoHosts(urls));
const card = '4111 1111 1111 1111';

function sandboxEnv(gateway = sandbox()) {
  return { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key, GATEWAY_MODEL: 'sandbox-mini' };
}

async function sentBody(argv: readonly string[]): Promise<unknown> {
  const { openai, anthropic, gateway } = hosts();
  const host = argv.includes('claude-test') ? anthropic : openai;
  const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };
  const { exit, stderr } = await command(['send', 'hello', ...argv], { env });
  expect([exit, stderr]).toEqual([0, '']);
  return JSON.parse(host.requests.at(-1)?.body.toString() ?? '');
}

describe('options by name', () => {
  test.each([
    [['-m', 'gpt-test'], { temperature: 0.5, top_p: 0.9, stop: ['a', 'b'] }],
    [['-m', 'claude-test'], { temperature: 0.5, top_p: 0.9, stop_sequences: ['a', 'b'] }],
  ])('%j has them where its dialect wants them', async (argv, expected) => {
    const options = ['--temperature', '0.5', '--top-p', '0.9', '--stop', 'a', '--stop', 'b'];

    expect(await sentBody([...argv, ...options])).toMatchObject(expected);
  });

  test('--set puts any other field, as JSON where it is JSON', async () => {
    const argv = ['-m', 'gpt-test', '--set', 'seed=7', '--set', 'user=someone', '--set', 'metadata.run=a=b'];

    expect(await sentBody(argv)).toMatchObject({ seed: 7, user: 'someone', metadata: { run: 'a=b' } });
  });

  test.each([
    ['a field that has its own option', ['--set', 'model=other']],
    ['no name', ['--set', '=1']],
    ['no value', ['--set', 'seed']],
    ['a prototype', ['--set', '__proto__.x=1']],
    ['a temperature below 0', ['--temperature', '-1']],
    ['a share above 1', ['--top-p', '2']],
    ['--stop in the responses dialect', ['--stop', 'a', '--dialect', 'responses']],
    ['--var without a template', ['--var', 'a=b']],
    ['a schema that is not there', ['--schema', 'none.json']],
    ['a template that is not there', ['-t', 'none']],
  ])('%s is a usage error', async (_name, argv) => {
    const { exit, stdout } = await command(['send', 'hello', ...argv], { env: sandboxEnv() });

    expect([exit, stdout]).toEqual([2, '']);
  });

  test('--no-stdin leaves standard input unread', async () => {
    let wasRead = false;
    const stdin = new Readable({
      read() {
        wasRead = true; // and never ends
      },
    });

    const { exit, stdout } = await command(['send', 'hello', '--no-stdin'], { env: sandboxEnv(), stdin });

    expect([exit, stdout, wasRead]).toEqual([0, expect.stringContaining('"hello"'), false]);
  });

  test('standard input without an end is given up', async () => {
    const line = Buffer.alloc(1024 * 1024, 'y\n');
    const stdin = new Readable({
      read() {
        this.push(line);
      },
    });

    const { exit, stderr } = await command(['send', 'hello'], { env: sandboxEnv(), stdin });

    expect([exit, stderr]).toEqual([2, 'gateway: standard input is larger than 64 MiB\n']);
  });

  test('the default model of gateway.yaml is used where nothing else names one', async () => {
    const { url, key } = sandbox();
    const cwd = emptyDirectory();
    writeFileSync(join(cwd, 'gateway.yaml'), 'default_model: sandbox-long\n');
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key };

    const named = await command(['send', 'hello', '-o', 'json', '-m', 'sandbox-mini'], { env, cwd });
    const fallback = await command(['send', 'hello', '-o', 'json'], { env, cwd });

    expect(JSON.parse(named.stdout).model).toBe('sandbox-mini');
    expect(JSON.parse(fallback.stdout).model).toBe('sandbox-long');
  });
});

describe('what a person should know is said on stderr', () => {
  test.each([
    [
      'a cut answer',
      ['hello', '--max-tokens', '3'],
      'the answer is truncated: it reached the limit of tokens (length)',
    ],
    ['a redaction', [`my card is ${card}`], 'the policy redacted something in the prompt'],
    ['a warning', ['a ticket'], 'the policy warns about this prompt: tickets'],
  ])('%s', async (_name, argv, expected) => {
    const env = sandboxEnv(guarded());

    const { exit, stderr } = await command(['send', ...argv], { env });
    const quiet = await command(['send', ...argv, '-q'], { env });
    const json = await command(['send', ...argv, '-o', 'json'], { env });

    expect(exit).toBe(0);
    expect(stderr).toContain(expected);
    expect([quiet.stderr, json.stderr]).toEqual(['', '']);
  });
});

describe('--dry-run', () => {
  const policy = `policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, reason: content.codename, when: { text: { phrases: ["nightfall"] } } }
`;

  test('shows what would be sent and what the policy says, and sends nothing', async () => {
    const cwd = emptyDirectory();
    writeFileSync(join(cwd, 'gateway.yaml'), policy);

    const { exit, stdout } = await command(['send', 'hello', '--dry-run'], { cwd });

    expect(exit).toBe(0);
    expect(stdout).toMatch(/^POST \/v1\/chat\/completions\n\{\n {2}"model": "sandbox-mini",/);
    expect(stdout).toContain('"content": "hello"');
    expect(stdout).toMatch(/\npolicy {4}allow \(key local\)\n$/);
  });

  test('what is blocked exits 3, without a request', async () => {
    const cwd = emptyDirectory();
    writeFileSync(join(cwd, 'gateway.yaml'), policy);
    const { url, key, records } = sandbox();
    const before = records.length;
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key };

    const { exit, stdout, stderr } = await command(['send', 'project Nightfall', '--dry-run', '-o', 'json'], {
      cwd,
      env,
    });

    expect(exit).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'sandbox-mini' },
      policy: { decision: 'block', rule: 'codename', at: '/messages/0/content' },
    });
    expect(JSON.parse(stderr).error.reason).toBe('content.codename');
    expect(records.length).toBe(before);
  });

  test.each(['mask', 'redact'])('shows what rules %s as it would leave', async (action) => {
    const cwd = emptyDirectory();
    const rule = `{ id: emails, action: ${action}, when: { text: { detect: [email] } } }`;
    writeFileSync(join(cwd, 'gateway.yaml'), `policies: { house: { apply: all, rules: [${rule}] } }\n`);

    const text = await command(['send', 'to ann@example.com', '--dry-run'], { cwd });
    const json = await command(['send', 'to ann@example.com', '--dry-run', '-o', 'json'], { cwd });

    expect([text.exit, json.exit]).toEqual([0, 0]);
    expect(text.stdout + json.stdout).not.toContain('ann@');
    const content = expect.stringMatching(
      action === 'mask' ? /^to EMAIL_[A-Z]{13}$/ : /^to \[REDACTED:.*\]$/,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({
      body: { messages: [{ role: 'user', content }] },
      policy: { decision: action, rule: 'emails' },
    });
    expect(text.stdout).toContain(`policy    ${action} by emails`);
  });

  test('an attachment is shown by its size, and whole in JSON', async () => {
    const cwd = emptyDirectory();
    writeFileSync(
      join(cwd, 'a.png'),
      Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(600)]),
    );

    const text = await command(['send', '-f', 'a.png', '--dry-run'], { cwd });
    const json = await command(['send', '-f', 'a.png', '--dry-run', '-o', 'json'], { cwd });

    expect(text.stdout).toContain('"data:image/png;base64,… 812 characters of base64"');
    expect(json.stdout.length).toBeGreaterThan(812);
  });
});
