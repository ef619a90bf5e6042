import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorkspace } from './config/workspace.ts';
import { command as runCommand } from './kit/command.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'policy-testing.md'), 'utf8');

function fences(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text]) => text ?? '',
  );
}

const [config = '', fixtures = ''] = fences('yaml');
const [request = ''] = fences('json');
const record = (id: number, text: string, more: object = {}) =>
  JSON.stringify({
    time: `2026-01-07T12:00:0${id - 1}.000Z`,
    request_id: `req_${id}`,
    key: 'shop-web',
    endpoint: 'chat',
    outcome: 'answered',
    decision: 'allow',
    request_body: JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content: text }] }),
    ...more,
  });
const records = [
  record(1, 'hello'),
  record(2, 'about project nightfall'),
  record(3, 'good night'),
  record(4, 'x', { request_body: undefined }),
].join('\n');

/** Times differ from run to run, and the columns with them. */
function withoutTimes(text: string): string {
  return text.replace(/\d+us/g, 'TIME').replace(/ {2,}/g, '  ').replace(/ +$/gm, '');
}

const sessions = fences('console').map((text) => {
  const [command = '', ...output] = text.split('\n');
  return [command.replace(/^\$ gateway /, ''), output.join('\n')] as const;
});

// It is the home of what people see: that exit codes and words of errors are right too is in test/cli/policy.
test.each(sessions)('the guide shows what "gateway %s" prints', async (command, output) => {
  const cwd = createWorkspace({
    'gateway.yaml': config,
    'fixtures.yaml': fixtures,
    'request.json': request,
    'records.jsonl': records,
  });

  const { exit, stdout } = await runCommand(command, { cwd });

  expect(withoutTimes(stdout)).toBe(withoutTimes(output));
  expect(exit).toBe({ test: 0, explain: 3, replay: 1 }[command.split(' ')[1] ?? '']);
});

test('the guide shows each of the three commands', () => {
  expect(sessions.map(([command]) => command.split(' ')[1])).toEqual(['test', 'explain', 'replay']);
});
