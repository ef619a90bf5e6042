// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { json, messagesAnswer, requestFor } from '../../kit/answers.ts';
import { command, homeWith, startServing, withoutStore } from '../../kit/command.ts';
import { startHost } from '../../kit/host.ts';
import { replaceFile } from '../serve/workers/serving.ts';

// The policies of the user's own file hold whatever file is used: of every combination of files, by every command that
// decides. Each file forbids a word of its own.

const sources = ['user', 'parent', 'project', 'named'] as const;
type Source = (typeof sources)[number];

const combinations = Array.from({ length: 2 ** sources.length }, (_, bits) =>
  sources.filter((_, i) => (bits & (1 << i)) !== 0),
);

const paths: Readonly<Record<Source, string>> = {
  user: 'home/.config/gateway/gateway.yaml',
  parent: 'repository/gateway.yaml',
  project: 'repository/packages/web/gateway.yaml',
  named: 'named.yaml',
};

const word = (source: Source) => `word-of-the-${source}`;
const sandbox = `providers: { s: { dialect: sandbox } }\nmodels: [{ match: "*", provider: s }]\n${withoutStore}`;
/** Each has a rule of the same policy and the same id. */
const yamlOf = (source: Source) => `${sandbox}policies:
  house: { apply: all, rules: [{ id: word, action: block, when: { text: { phrases: ["${word(source)}"] } } }] }
`;

interface Place {
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

function place(files: Readonly<Record<string, string | object>>): Place {
  const curl = `for word in hello ${sources.map(word).join(' ')}; do
  curl -s -o /dev/null -w "%{http_code} " "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_AUTH_TOKEN" \\
    -H 'content-type: application/json' -d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"'$word'"}]}'
done >"$(dirname "$0")/../statuses"`;
  const root = homeWith({
    'repository/.git': 'gitdir: ../.git/worktrees/repository',
    'repository/packages/web/package.json': '{}',
    'bin/claude': `#!/bin/sh\n${curl}\n`,
    ...files,
  });
  chmodSync(join(root, 'bin/claude'), 0o755);
  const env = {
    HOME: join(root, 'home'),
    XDG_CONFIG_HOME: '',
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
  };
  return { root, cwd: join(root, 'repository/packages/web'), env };
}

function placeOf(existing: readonly Source[]): Place {
  const { root, cwd, env } = place(
    Object.fromEntries(existing.map((source) => [paths[source], yamlOf(source)])),
  );
  const named = existing.includes('named') ? { GATEWAY_CONFIG: join(root, paths.named) } : {};
  return { root, cwd, env: { ...env, ...named } };
}

/** The words that are forbidden: the user's always, and those of the file that is used. */
function forbidden(existing: readonly Source[]): readonly Source[] {
  const used = (['named', 'project', 'parent', 'user'] as const).find((source) => existing.includes(source));
  return sources.filter((source) => existing.includes(source) && (source === 'user' || source === used));
}

const request = (text: string) => ({
  ...requestFor('chat', 'm'),
  messages: [{ role: 'user', content: text }],
});

/** The statuses of requests with a harmless word and those of the files. */
const statuses = (existing: readonly Source[]) => [
  200,
  ...sources.map((source) => (forbidden(existing).includes(source) ? 403 : 200)),
];

test.each(combinations)('explain and send --dry-run, with %s %s %s %s', async (...existing) => {
  const { root, cwd, env } = placeOf(existing);
  const decided = [];
  for (const source of sources) {
    writeFileSync(join(root, 'request.json'), JSON.stringify(request(word(source))));
    const explained = await command(`policy explain ${join(root, 'request.json')}`, { cwd, env });
    const tried = await command(['send', '--dry-run', '-m', 'm', word(source)], { cwd, env });
    if (explained.exit === 3 && tried.exit === 3) decided.push(source);
    else expect([explained.exit, tried.exit]).toEqual([0, 0]);
  }

  expect(decided).toEqual(forbidden(existing));
});

test.each(combinations)('run, with %s %s %s %s', async (...existing) => {
  const { root, cwd, env } = placeOf(existing);

  expect(await command('run claude', { cwd, env })).toMatchObject({ exit: 0 });

  expect(readFileSync(join(root, 'statuses'), 'utf8')).toBe(`${statuses(existing).join(' ')} `);
});

// Without a file there is nothing to reload.
const withFile = combinations.filter((existing) => existing.length > 0);

test.each(withFile)('serve, send, and after a reload, with %s %s %s %s', async (...existing) => {
  const { root, cwd, env } = placeOf(existing);
  const serving = await startServing({ cwd, env });
  const { key } = JSON.parse(
    readFileSync(join(root, 'home/.local/state/gateway/local-key.json'), 'utf8'),
  ) as { key: string };
  const ask = () => askAll(serving.url, key);
  const atStart = await ask();
  // A file that is named would also name the port.
  const found = { ...env, GATEWAY_CONFIG: '' };
  const sent = await command(['send', '-m', 'm', word('user')], { cwd, env: found });
  const used = forbidden(existing).at(-1) ?? 'user';
  writeFileSync(join(root, paths[used]), `# edited\n${yamlOf(used)}`);
  await serving.wrote('stderr', 'configuration reloaded');
  const afterwards = await ask();
  await serving.stop();

  const exit = existing.includes('user') ? 3 : 0;
  expect([atStart, sent.exit, afterwards]).toEqual([statuses(existing), exit, statuses(existing)]);
});

async function askAll(url: string, key: string): Promise<readonly number[]> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const found = [];
  for (const text of ['hello', ...sources.map(word)]) {
    const body = JSON.stringify(request(text));
    found.push((await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status);
  }
  return found;
}

describe("the user's own file while another one is served", () => {
  const both = () => placeOf(['user', 'project']);

  test('an edit is reloaded, and what would take its policies away is not', async () => {
    const { root, cwd, env } = both();
    const file = join(root, paths.user);
    const serving = await startServing({ cwd, env });
    const { key } = JSON.parse(
      readFileSync(join(root, 'home/.local/state/gateway/local-key.json'), 'utf8'),
    ) as { key: string };
    replaceFile(file, yamlOf('user').replace('word-of-the-user', 'another-word'));
    await serving.wrote('stderr', 'configuration reloaded');
    const edited = await askAll(serving.url, key);

    rmSync(file);
    await serving.wrote('stderr', `${file} is gone`);
    replaceFile(file, 'policies: [');
    await serving.wrote('stderr', 'a problem in');
    replaceFile(file, '{}\n');
    await serving.wrote('stderr', `no policy of ${file} holds any more`);
    replaceFile(file, yamlOf('parent'));
    await expect.poll(() => askAll(serving.url, key)).toEqual([200, 200, 403, 403, 200]);
    await serving.stop();

    expect(edited).toEqual([200, 200, 200, 403, 200]);
  });

  test('one that is made while the gateway runs holds too', async () => {
    const { root, cwd, env } = placeOf(['project']);
    const serving = await startServing({ cwd, env });
    mkdirSync(dirname(join(root, paths.user)), { recursive: true });
    writeFileSync(join(root, paths.user), yamlOf('user'), { mode: 0o600 });
    serving.hangUp();
    await serving.wrote('stderr', 'configuration reloaded');
    const ended = await command(['send', '-m', 'm', word('user')], { cwd, env });
    await serving.stop();

    expect(ended.exit).toBe(3);
  });

  test.each<[string, string, RegExp]>([
    ['invalid', 'polices: {}\n', /1:1 {2}polices: unknown key/],
    ['empty', '', /the file sets nothing/],
    [
      'with a variable in a policy that is not set',
      'policies: { p: { apply: all, rules: [{ id: r, action: block, when: { model: ["${NO_SUCH}"] } }] } }\n',
      /NO_SUCH is not set/,
    ],
  ])('%s: nothing is started, and the error names it', async (_, yaml, why) => {
    const { root, cwd, env } = both();
    const file = join(root, paths.user);
    writeFileSync(file, yaml);

    for (const argv of ['serve -p 0', 'run claude', 'config show', 'policy explain request.json']) {
      const ended = await command(argv, { cwd, env });

      expect(ended.exit).toBe(2);
      expect(ended.stderr).toMatch(/(?:a problem|2 problems) in /);
      expect(ended.stderr).toContain(` in ${file}\n`);
      expect(ended.stderr).toMatch(why);
    }
    expect((await command('config check', { cwd, env })).stdout).toContain(file);
  });

  test('its other settings may lack variables, for they are not used', async () => {
    const { root, cwd, env } = both();
    const state = 'state: "redis://${NO_SUCH}:1"\n';
    writeFileSync(join(root, paths.user), `${yamlOf('user')}${state}`);

    expect((await command('config check', { cwd, env })).exit).toBe(0);
  });
});

test('names, projects and keys of a found file are no way around a rule', async () => {
  const user = `${sandbox}projects: { mine: { policies: [named], keys: [{ id: k, value: "\${K}", policies: [of-key] }] } }
policies:
  named: { rules: [{ id: a, action: block, when: { project: [mine], text: { phrases: [one] } } }] }
  of-key: { rules: [{ id: b, action: block, unless: { key: [trusted] }, when: { text: { phrases: [two] } } }] }
  unused: { rules: [{ id: c, action: block, when: { text: { phrases: [three] } } }] }
  closed:
    apply: all
    default: deny
    rules:
      - { id: d, action: allow, when: { model: [m] } }
      - { id: e, action: allow, when: { key: [trusted] } }
`;
  const project = `${sandbox}projects: { trusted: { policies: [house], keys: [{ id: trusted, value: "\${K}" }] } }
policies:
  house: { rules: [{ id: a, action: allow, when: { text: { phrases: [one, two, three] } } }] }
`;
  const { root, cwd, env } = place({ [paths.user]: user, [paths.project]: project });
  await command(['trust'], { cwd, env });
  const decide = async (model: string, text: string) => {
    writeFileSync(join(root, 'request.json'), JSON.stringify({ ...request(text), model }));
    const { json } = await command(`policy explain ${join(root, 'request.json')} -o json`, {
      cwd,
      env: { ...env, K: 'a-key-of-16-characters' },
    });
    return [json.decision, json.rule];
  };

  expect(await decide('m', 'one')).toEqual(['block', 'user:a']);
  expect(await decide('m', 'two')).toEqual(['block', 'b']);
  expect(await decide('m', 'three')).toEqual(['allow', 'd']);
  expect(await decide('n', 'hello')).toEqual(['block', 'default']);
});

test('the origin of policies is shown, and only the user takes one away', async () => {
  const { root, cwd, env } = placeOf(['user', 'project']);
  const file = join(root, paths.user);
  const shown = async () => {
    const ended = await Promise.all([
      command('serve --dry-run', { cwd, env }),
      command('config show --origin', { cwd, env }),
      command(`policy explain ${join(root, 'request.json')}`, { cwd, env }),
    ]);
    return ended.map(({ stdout }) => stdout);
  };
  writeFileSync(join(root, 'request.json'), JSON.stringify(request(word('user'))));

  const [banner, show, explained] = await shown();
  expect(banner).toContain(`your own: house (${file})`);
  expect(show).toContain(`- id: user:word # ${file}:5`);
  expect(explained).toContain(`your own: house (${file})`);

  const unknown = await command('trust --without hous', { cwd, env });
  expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringContaining('did you mean "house"?') });
  const allowed = await command('trust --without house', { cwd, env });
  expect(allowed.stdout).toContain('it is used without the policy house of your own configuration');
  const [without, , decided] = await shown();
  expect(without).toContain(`your own: none (${file}), without house`);
  expect(decided).toContain('decision  allow');

  await command('trust --revoke', { cwd, env });
  expect((await shown())[0]).toContain(`your own: house (${file})`);
});

test("limits and models of the user's own projects hold, until the user takes them away", async () => {
  const user = `${sandbox}projects: { me: { limits: { requests_per_minute: 1 }, models: [m], keys: [{ id: k, value: "\${K}" }] } }\n`;
  const { root, cwd, env } = place({ [paths.user]: user, [paths.project]: sandbox });
  const shown = async () => (await command('serve --dry-run', { cwd, env })).stdout;
  const send = (model: string) => command(['send', '-m', model, 'hello'], { cwd, env });
  expect(await shown()).toContain(`your own: limits of me, models of me (${join(root, paths.user)})`);
  const serving = await startServing({ cwd, env });
  const other = await send('n');
  const exits = [(await send('m')).exit, (await send('m')).exit];
  await serving.stop();
  await command(['trust', '--without', 'limits of me', 'models of me'], { cwd, env });
  const free = await startServing({ cwd, env });
  const freed = [(await send('n')).exit, (await send('n')).exit];
  await free.stop();

  expect([other.exit, other.stderr]).toEqual([3, expect.stringContaining('--without "models of me"')]);
  expect(exits).toEqual([0, 6]);
  expect(freed).toEqual([0, 0]);
});

test('what run --mask adds holds beside the rules of both files', async () => {
  const provider = await startHost(json(messagesAnswer));
  const project = `providers: { p: { dialect: anthropic, base_url: "${provider.url}" } }\nmodels: [{ match: "*", provider: p }]\n`;
  const agent = `#!/bin/sh
for text in "mail rosa@plants.example" ${word('user')} ${word('project')}; do
  curl -s -o /dev/null -w "%{http_code} " "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_AUTH_TOKEN" \\
    -H 'content-type: application/json' -d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"'"$text"'"}]}'
done >"$(dirname "$0")/../statuses"
`;
  const { root, cwd, env } = place({
    [paths.user]: yamlOf('user'),
    [paths.project]: yamlOf('project').replace(sandbox, project + withoutStore),
    'bin/claude': agent,
  });

  const { exit } = await command('run --mask email claude', { cwd, env });

  expect([exit, readFileSync(join(root, 'statuses'), 'utf8')]).toEqual([0, '200 403 403 ']);
  const sent = provider.requests.map(({ body }) => body.toString()).filter(Boolean);
  expect(sent).toEqual([expect.stringMatching(/mail EMAIL_/)]);
});

test("a user's rule masks with the user's secret, whatever provider the found file names", async () => {
  const provider = await startHost((response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'ok' } }] }));
  });
  const policies = `policies: { pii: { apply: all, rules: [{ id: mail, action: mask, when: { text: { detect: [email] } } }] } }`;
  const project = `providers: { p: { dialect: openai, base_url: "${provider.url}/v1" } }\nmodels: [{ match: "*", provider: p }]\n${withoutStore}`;
  const secret = 'masking: { secret: 0123456789-0123456789-0123456789-ab }\ninspector: { enabled: false }\n';
  const { cwd, env } = place({ [paths.user]: `${policies}\n${secret}`, [paths.project]: project });
  const serving = await startServing({ cwd, env });

  const sent = await command(['send', '-m', 'm', 'mail rosa@plants.example'], { cwd, env });
  const { settings } = (await command('config show -o json', { cwd, env })).json;
  await serving.stop();

  expect(sent.exit).toBe(0);
  expect(provider.requests.map(({ body }) => String(body)).join('')).toMatch(/EMAIL_/);
  expect(provider.requests.map(({ body }) => String(body)).join('')).not.toContain('rosa@plants.example');
  expect([settings.masking.secret, settings.inspector.enabled]).toEqual(['***', false]);
});

test('fixtures are decided by the file alone, as for everybody who has it', async () => {
  const { root, cwd, env } = placeOf(['user', 'project']);
  const fixture = `body: ${JSON.stringify(request(word('user')))}\nexpect: { decision: allow }\n`;
  writeFileSync(join(root, 'fixture.yaml'), fixture);

  expect(await command(`policy test ${join(root, 'fixture.yaml')}`, { cwd, env })).toMatchObject({ exit: 0 });
});
