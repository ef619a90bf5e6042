import { expect, test, vi } from 'vitest';
import { command, startServing, withoutStore } from '../kit/command.ts';

const yaml = `${withoutStore}policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: [nightfall] } } }
`;

const serving = () => startServing({ files: { 'gateway.yaml': yaml } });

test('at a terminal a refusal ends with its place and the command that shows its record', async () => {
  const { home: cwd } = await serving();

  const { exit, stderr } = await command(['send', 'when is Nightfall?'], { cwd, isTerminal: true });
  const [, line = ''] = /\n {2}gateway (logs show req_\w+)\n$/.exec(stderr) ?? [];
  // The record reaches the file soon after the answer.
  const shown = await vi.waitFor(
    async () => {
      const found = await command(`${line} -o json`, { cwd });
      expect(found.exit).toBe(0);
      return found;
    },
    { timeout: 5_000, interval: 50 },
  );

  expect(exit).toBe(3);
  expect(stderr).toContain('blocked by rule codename\n  at /messages/0/content\n  gateway logs show req_');
  expect(shown.json.exchange).toMatchObject({ outcome: 'refused', rules: [{ id: 'codename' }] });
});

test('in JSON it has the id, and in a pipe the text is one line', async () => {
  const { home: cwd } = await serving();

  const json = await command(['send', 'when is Nightfall?', '-o', 'json'], { cwd });
  const text = await command(['send', 'when is Nightfall?'], { cwd });

  expect(json.error).toMatchObject({
    reason: 'policy.blocked',
    param: '/messages/0/content',
    request_id: expect.stringMatching(/^req_\w+$/),
  });
  expect(text.stderr).toBe('gateway: blocked by rule codename\n');
});

test('a gateway elsewhere has its own log', async () => {
  const { url, home } = await serving();
  const { key } = (await command('key show -o json', { cwd: home })).json;

  const { stderr } = await command(['send', 'when is Nightfall?'], {
    gateway: { url, key },
    isTerminal: true,
  });

  expect(stderr).toMatch(/\n {2}at \/messages\/0\/content\n {2}request req_\w+\n$/);
});

test('a rule about tools names the tool', async () => {
  const { url, home } = await startServing({
    files: {
      'gateway.yaml': `${withoutStore}policies:
  house:
    apply: all
    rules:
      - { id: no-shell, action: block, when: { tools: ["bash*"] }, message: no shells here }
`,
    },
  });
  const { key } = (await command('key show -o json', { cwd: home })).json;
  const ask = async (name: string) => {
    const tools = [
      { type: 'function', function: { name: 'search' } },
      { type: 'function', function: { name } },
    ];
    const body = JSON.stringify({
      model: 'sandbox-mini',
      messages: [{ role: 'user', content: 'hi' }],
      tools,
    });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    const { error } = (await answer.json()) as { error: { message: string } };
    return error.message;
  };

  expect(await ask('bash_run')).toBe('no shells here (tool bash_run)');
  // What can't be a tool's name is not repeated.
  expect(await ask('bash run')).toBe('no shells here');
});
