import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TextResponse } from '../../src/inspector/contract/exchange-detail.ts';
import { command } from '../kit/command.ts';
import { projects, secrets } from '../kit/gateway.ts';
import { idOf, startInspected } from '../kit/inspector.ts';
import { directoryWith } from '../kit/own-configuration.ts';

const texts = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '</script><svg onload=alert(1)>',
  '\u202e\u2066gnp.exe\u2069\u200b',
  '\u001b]0;owned\u0007\u001b[2J\u001b[31m',
  '$(touch /tmp/owned) `id` \'; rm -rf / #"\\',
  '\ud83d\ude00 é \u0000 \u2028 \u2029',
  '{"__proto__":{"polluted":true}}',
  "---\n- name: !!js/function 'x'\nexpect: &a *a",
  'data: x\n\nevent: finished\ndata: {}',
];

const yaml = `
providers:
  sandbox: { dialect: sandbox }
  host: { dialect: openai, base_url: "http://127.0.0.1:9/v1", api_key: "\${PROVIDER_KEY}" }
models: [{ match: "sandbox-*", provider: sandbox }]
records: { bodies: true }
policies:
  house:
    apply: all
    rules:
      - { id: no-mail, action: redact, when: { text: { detect: [email] } } }
      - { id: no-bird, action: block, reason: content.bird, when: { text: { phrases: ["blue heron"] } } }
${projects}`;

const gateway = await startInspected(yaml);

const chatBody = (content: string) =>
  JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content }] });

test('tests that are made of hostile texts pass by the command', async () => {
  const testsOf = async (prompt: string) => {
    const ids = await Promise.all(texts.map((text) => gateway.ask(chatBody(`${text} ${prompt}`))));
    const made = await Promise.all(ids.map((id) => gateway.api(`exchanges/${id}/test`)));
    return (made as TextResponse[]).map(({ text }) => text);
  };
  const [blocked, allowed] = [
    await testsOf('blue heron ann@penguin-mail.com'),
    await testsOf('ann@penguin-mail.com'),
  ];
  const directory = directoryWith(yaml);
  const run = (tests: readonly string[]) => {
    for (const [i, text] of tests.entries()) writeFileSync(join(directory, `made-${i}.yaml`), text);
    const files = tests.map((_, i) => `made-${i}.yaml`);
    return command(['policy', 'test', ...files], { cwd: directory, env: secrets });
  };

  const passed = await run([...blocked, ...allowed]);
  const failed = await run(blocked.map((text) => text.replace('rule: no-bird', 'rule: no-mail')));

  expect(blocked.join('')).toMatch(/^[\x20-\x7e\n]+$/);
  expect([passed.exit, passed.stderr]).toEqual([0, '']);
  expect(passed.stdout).toContain(`\n${2 * texts.length} as expected, 0 not\n`);
  expect(allowed.filter((text) => !text.includes('decision: redact'))).toEqual([]);
  expect(failed.exit).not.toBe(0);
  expect(failed.stdout).toContain(`\n0 as expected, ${texts.length} not\n`);
});

test('bytes that are no text are refused, and shown as text', async () => {
  const body = Buffer.from([
    ...Buffer.from('{"model":"m","messages":"'),
    0xff,
    0xfe,
    0xc3,
    0x28,
    ...Buffer.from('"}'),
  ]);
  const id = await gateway.ask(body);

  const detail = await gateway.detail(id);

  expect(detail.row.status).toBe(400);
  expect(detail.bodies?.received?.text).toContain('\ufffd');
  const made = (await gateway.api(`exchanges/${id}/test`)) as TextResponse;
  expect(made.text).toContain('raw: !!binary');
});

test('a line of five megabytes is shown in part, and its rules all the same', async () => {
  const id = await gateway.ask(chatBody(`${'a'.repeat(5_000_000)} blue heron`));

  const detail = await gateway.detail(id);

  expect(detail.bodies?.received).toMatchObject({ truncated: true });
  expect(detail.bodies?.received?.bytes).toBeGreaterThan(5_000_000);
  expect(detail.bodies?.received?.text.length).toBe(1024 * 1024);
  expect(detail.rules.find(({ rule }) => rule === 'no-bird')?.matched).toBe(true);
});

test('configured secrets are in no answer, neither in the list nor in a record', async () => {
  const secret = secrets.PROVIDER_KEY;
  const id = await gateway.ask(chatBody(`my key is ${secret}`), {
    headers: { 'x-client-request-id': secret, 'user-agent': `${secret}/1.0` },
  });
  // Where no prompt is.
  const others = [
    await gateway.ask(JSON.stringify({ model: gateway.key, messages: [{ role: 'user', content: 'hello' }] })),
    await idOf(fetch(`${gateway.url}/v1/${secret}/${gateway.key}`)),
  ];
  const paths = [`${id}/curl`, `${id}/test`, id, ...others].map((path) => `exchanges/${path}`);
  const answers = await Promise.all([...paths, 'exchanges', 'policies'].map((path) => gateway.api(path)));

  const text = JSON.stringify(answers);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(gateway.key);
  expect(text).toContain('[secret]/1.0');
  expect(text).toContain('/v1/[secret]/[secret]');
});

test('rules and requests that are wrong, too large or too slow are refused', async () => {
  const attempt = (fields: object) => gateway.post('try-policy', { body: chatBody('hi'), ...fields });

  expect(await attempt({ policies: 'a: &a [*a]' })).toMatchObject({ kind: 'invalid' });
  expect(await attempt({ policies: '- 1' })).toMatchObject({ kind: 'invalid' });
  expect(await attempt({ policies: '__proto__: {}' })).toMatchObject({ kind: 'invalid' });
  expect(await attempt({ policies: '{}', body: 'no json' })).toMatchObject({
    kind: 'decided',
    decision: 'block',
  });
  expect(await attempt({ policies: '{}', key: 'nobody' })).toMatchObject({
    error: { reason: 'request.field' },
  });
  expect(await attempt({ policies: '{}', endpoint: 'nowhere' })).toMatchObject({ error: {} });
  expect(await attempt({ policies: '#'.repeat(1_100_000) })).toMatchObject({
    error: { reason: 'request.too_large' },
  });
  expect(await attempt({ policies: 7 })).toMatchObject({ error: { reason: 'request.field' } });
}, 60_000);
