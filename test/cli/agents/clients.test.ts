import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { clientNames, clientOf } from '../../../src/cli/agents/clients.ts';
import { exportLines, unsetLines } from '../../../src/cli/env.ts';

const target = { url: 'http://127.0.0.1:4100', key: 'gw_key', models: {} };

function shell(script: string): string {
  const { stdout, stderr } = spawnSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'of the user' },
  });
  return stdout + stderr;
}

test.each(clientNames)('a shell takes the lines for %s, and --unset takes them back', (name) => {
  const settings = clientOf(name).settings(target);
  const { conflicts } = clientOf(name);
  const owned: readonly string[] = conflicts;
  const set = exportLines({ name, settings, conflicts });
  const variables = Object.keys(settings.variables);
  const print = variables.map((variable) => `printf '%s\\n' "$${variable}"`).join('; ');

  expect(shell(`${set} ${print}`)).toBe(`${Object.values(settings.variables).join('\n')}\n`);
  expect(shell(`${set} ${unsetLines({ name, settings })} ${print}`)).toBe('\n'.repeat(variables.length));
  expect(shell(`${set} env`)).not.toContain(
    'of the user\n'.repeat(owned.includes('ANTHROPIC_API_KEY') ? 1 : 2),
  );
});

test('a key or address with quotes stays one word', () => {
  const settings = clientOf('openai').settings({ ...target, url: "http://h/'$(id)", key: `a'b"c$d` });

  const set = exportLines({ name: 'openai', settings, conflicts: [] });

  expect(shell(`${set} printf %s "$OPENAI_BASE_URL $OPENAI_API_KEY"`)).toBe(`http://h/'$(id)/v1 a'b"c$d`);
});

describe.skipIf(spawnSync('fish', ['-c', 'true']).status !== 0)('fish', () => {
  const fish = (script: string) => {
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ANTHROPIC_API_KEY: 'of the user' },
    });
    return stdout + stderr;
  };

  test.each(clientNames)('takes the lines for %s, and --unset takes them back', (name) => {
    const settings = clientOf(name).settings(target);
    const { conflicts } = clientOf(name);
    const set = exportLines({ name, settings, conflicts }, 'fish');
    const print = Object.keys(settings.variables)
      .map((variable) => `echo "$${variable}"`)
      .join('; ');

    expect(fish(`${set}${print}`)).toBe(`${Object.values(settings.variables).join('\n')}\n`);
    expect(
      fish(`${set}${unsetLines({ name, settings }, 'fish')}${print}; functions -q ${name}; and echo there`),
    ).toBe('\n'.repeat(Object.keys(settings.variables).length));
  });

  test('a key with quotes and backslashes stays one word', () => {
    const settings = clientOf('openai').settings({ ...target, key: `a'b"c$d\\'e` });

    const set = exportLines({ name: 'openai', settings, conflicts: [] }, 'fish');

    expect(fish(`${set}echo "$OPENAI_API_KEY"`)).toBe(`a'b"c$d\\'e\n`);
  });

  test("the function passes the agent's arguments on", () => {
    const settings = clientOf('codex').settings({ ...target, models: { main: 'o9' } });
    const set = exportLines({ name: 'codex', settings, conflicts: [] }, 'fish');
    const codex =
      'set d (mktemp -d); printf \'#!/bin/sh\\nprintf "%%s\\\\n" "$@"\\n\' > $d/codex; chmod +x $d/codex; set -x PATH $d $PATH';

    const words = fish(`${codex}\n${set}codex exec "hello  world"`).split('\n');

    expect(words.slice(0, 2)).toEqual(['-c', 'model_provider="gateway"']);
    expect(words.slice(-4)).toEqual(['model="o9"', 'exec', 'hello  world', '']);
  });
});

test("codex's provider block comes as a function that passes arguments on", () => {
  const settings = clientOf('codex').settings({ ...target, models: { main: 'o9' } });
  const set = exportLines({ name: 'codex', settings, conflicts: [] });
  const codex =
    'd=$(mktemp -d); printf \'#!/bin/sh\\nprintf "%%s\\\\n" "$@"\\n\' > $d/codex; chmod +x $d/codex; PATH=$d:$PATH';

  const words = shell(`${codex}\n${set}codex exec "hello  world"`).split('\n');

  expect(words).toEqual([
    '-c',
    'model_provider="gateway"',
    '-c',
    expect.stringMatching(
      /^model_providers\.gateway=\{.*request_max_retries=0, stream_max_retries=0, supports_websockets=false\}$/,
    ),
    '-c',
    'model="o9"',
    'exec',
    'hello  world',
    '',
  ]);
});

test('opencode gets its own models of two providers, or the one that is named', () => {
  const content = (model: string | undefined) => {
    const { variables } = clientOf('opencode').settings({ ...target, models: { main: model } });
    return JSON.parse(variables.OPENCODE_CONFIG_CONTENT ?? '');
  };

  // Otherwise a stored ChatGPT login sends requests for OpenAI to chatgpt.com, whatever the address is.
  expect(clientOf('opencode').settings(target).variables).toMatchObject({
    OPENCODE_AUTH_CONTENT: '{}',
  });
  expect(content(undefined)).toMatchObject({
    enabled_providers: ['anthropic', 'openai'],
    provider: { openai: { options: { baseURL: 'http://127.0.0.1:4100/v1', apiKey: 'gw_key' } } },
  });
  expect(content('qwen3')).toMatchObject({
    model: 'gateway/qwen3',
    provider: { gateway: { models: { qwen3: {} } } },
  });
});
