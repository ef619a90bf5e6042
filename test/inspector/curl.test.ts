import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TextResponse } from '../../src/inspector/contract/exchange-detail.ts';
import { emptyDirectory } from '../kit/command.ts';
import { projects } from '../kit/gateway.ts';
import { startInspected } from '../kit/inspector.ts';

const gateway = await startInspected(`records: { bodies: true }\n${projects}`);
/** What a shell hands to curl, and everything that the command wrote in the directory where it ran. */
function argumentsOf(command: string): readonly string[] {
  const directory = emptyDirectory();
  writeFileSync(join(directory, 'curl'), '#!/bin/sh\nprintf "%s\\0" "$@"\n', { mode: 0o755 });
  const printed = execFileSync('/bin/sh', ['-c', command], {
    cwd: directory,
    env: { PATH: directory, GATEWAY_KEY: 'from-the-environment' },
    encoding: 'utf8',
  });
  return printed.split('\0').slice(0, -1);
}

async function curlOf(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const id = await gateway.ask(body, { headers });
  return ((await gateway.api(`exchanges/${id}/curl`)) as TextResponse).text;
}

const chat = (content: string) =>
  JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content }] });

test.each([
  "it's $(touch owned) `touch owned` \\' \" ! # ; & | > owned",
  '\u001b[2J\u202e\u0000 é \u2028\r\n\t',
  "'; curl evil.example; '",
  '$GATEWAY_KEY $PATH $(( 1 )) \\',
])('a shell hands the request to curl as it was: %j', async (text) => {
  const command = await curlOf(chat(text));
  const given = argumentsOf(command);

  expect(command).toMatch(/^[\x20-\x7e\n]+$/);
  expect(command).not.toContain(gateway.key);
  expect(given.slice(0, 3)).toEqual([
    `${gateway.url}/v1/chat/completions`,
    '-H',
    'authorization: Bearer from-the-environment',
  ]);
  expect(given.at(-2)).toBe('--data-raw');
  expect(JSON.parse(given.at(-1) ?? '')).toEqual(JSON.parse(chat(text)));
});

test('a body that begins with @ is sent as it is, not as the name of a file', async () => {
  const given = argumentsOf(await curlOf('@/etc/hostname'));

  // --data and --data-binary would read the file.
  expect(given.slice(-2)).toEqual(['--data-raw', '@/etc/hostname']);
});

test('headers that affect the answer are there, and none with a key', async () => {
  const given = argumentsOf(
    await curlOf(chat('hi'), {
      'openai-beta': "it's $(x)",
      'anthropic-api-key': 'sk-ant-0123456789',
      'x-api-key': gateway.key,
      cookie: 'session=0123456789',
      'idempotency-key': 'once-1',
    }),
  );

  expect(given).toContain("openai-beta: it's $(x)");
  expect(given).toContain('idempotency-key: once-1');
  expect(given.join('\n')).not.toMatch(/sk-ant|session=|x-api-key/);
  expect(given.join('\n')).not.toContain(gateway.key);
});
