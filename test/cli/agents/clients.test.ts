import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { clientOf, knownClients } from '../../../src/cli/agents/clients.ts';
import { exportLines, unsetLines } from '../../../src/cli/env.ts';

const target = { url: 'http://127.0.0.1:4100', key: 'gw_key', models: {} };

const hasFish = spawnSync('fish', ['-c', 'true']).status === 0;

const shells = [
  {
    shell: 'sh',
    argv: ['sh', '-c'],
    print: (variable: string) => `printf '%s\\n' "$${variable}"`,
    folderFirst: 'd=$(mktemp -d); PATH=$d:$PATH',
    undefinedNow: (name: string) => `type ${name} 2>&1 | grep function`,
  },
  {
    shell: 'fish',
    argv: ['fish', '--no-config', '-c'],
    print: (variable: string) => `echo "$${variable}"`,
    folderFirst: 'set d (mktemp -d); set -x PATH $d $PATH',
    undefinedNow: (name: string) => `functions -q ${name}; and echo there`,
  },
] as const;

describe.each(shells.filter(({ shell }) => shell === 'sh' || hasFish))('in $shell', (each) => {
  const { shell, argv, print, folderFirst, undefinedNow } = each;

  function run(script: string): string {
    const [file, ...options] = argv;
    const { stdout, stderr } = spawnSync(file, [...options, script], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ANTHROPIC_API_KEY: 'of the user' },
    });
    return stdout + stderr;
  }

  test.each(knownClients)('the lines for %s are taken, and --unset takes them back', (name) => {
    const settings = clientOf(name).settings(target);
    const { conflicts } = clientOf(name);
    const owned: readonly string[] = conflicts;
    const set = exportLines({ name, settings, conflicts }, shell);
    const unset = unsetLines({ name, settings }, shell);
    const variables = Object.keys(settings.variables);
    const printed = variables.map(print).join('; ');

    expect(run(`${set}${printed}`)).toBe(`${Object.values(settings.variables).join('\n')}\n`);
    expect(run(`${set}${unset}${printed}; ${undefinedNow(name)}`)).toBe('\n'.repeat(variables.length));
    expect(run(`${set}env`)).not.toContain(
      'of the user\n'.repeat(owned.includes('ANTHROPIC_API_KEY') ? 1 : 2),
    );
  });

  test('a key or address with quotes and backslashes stays one word', () => {
    const settings = clientOf('openai').settings({ ...target, url: "http://h/'$(id)", key: `a'b"c$d\\'e` });

    const set = exportLines({ name: 'openai', settings, conflicts: [] }, shell);

    expect(run(`${set}${print('OPENAI_BASE_URL')}; ${print('OPENAI_API_KEY')}`)).toBe(
      `http://h/'$(id)/v1\na'b"c$d\\'e\n`,
    );
  });

  test("codex's provider block comes as a function that passes arguments on", () => {
    const settings = clientOf('codex').settings({ ...target, models: { main: 'o9' } });
    const set = exportLines({ name: 'codex', settings, conflicts: [] }, shell);
    const codex = `${folderFirst}; printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@"\\n' > $d/codex; chmod +x $d/codex`;

    const words = run(`${codex}\n${set}codex exec "hello  world"`).split('\n');

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
