import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inspectConfig } from '../../src/config/load.ts';
import { markedSettings } from '../../src/config/schema/reach.ts';
import { settingsSchema } from '../../src/config/schema/schema.ts';
import { decideOffline } from '../../src/gateway/offline/decide-offline.ts';
import { destinationNamed } from '../../src/gateway/offline/question.ts';
import { tryTask } from '../../src/inspector/tasks/decision-task.ts';
import { readPolicies, readRuleLines } from '../../src/inspector/tasks/rule-file.ts';
import { allowAll, createWorkspace, nowMs } from './workspace.ts';

/**
 * What becomes of each setting of the user's own file while another one is used (docs/decisions/configuration-search.md).
 * A new setting must be given a place: does losing it lose protection?
 */
const kinds = {
  'holds over every file': [
    'policies',
    'masking',
    'inspector.enabled',
    'records.bodies',
    'projects.*.limits',
    'projects.*.models',
    'models.[].when',
    'models.[].unless',
  ],
  "goes with the user's keys, and a warning says so": ['projects.*.keys.[].limits'],
  'is closed by default, and asked for by a found file': [
    'server.host',
    'server.allowed_hosts',
    'server.allowed_origins',
    'providers.*.ca_file',
    'providers.*.proxy',
    'providers.*.api_key',
    'providers.*.api_keys',
    'providers.*.credentials',
    'providers.*.base_url',
    'projects.*.keys.[].file',
    'state',
    'records.file',
    'records.ledger_file',
    'records.ledger_database',
    'metrics.host',
    'inspector.password_file',
    'plants.base_url',
    'plants.store.host',
    'plants.store.database',
  ],
  'protects nothing of the user, or what a found file provides': [
    'server.port',
    'server.workers',
    'server.limits',
    'providers.*.dialect',
    'providers.*.host',
    'providers.*.region',
    'providers.*.api_version',
    'providers.*.endpoints',
    'providers.*.forward_headers',
    'providers.*.timeouts',
    'providers.*.heartbeat',
    'providers.*.open_after',
    'providers.*.connections',
    'providers.*.retries',
    'providers.*.breaker',
    'models.[].match',
    'models.[].provider',
    'models.[].model',
    'models.[].set',
    'models.[].default',
    'models.[].remove',
    'models.[].headers',
    'models.[].targets',
    'models.[].fallbacks',
    'models.[].context_window',
    'models.[].max_output_tokens',
    'models.[].prompt_cache',
    'models.[].unsupported_content',
    'models.[].pricing',
    'default_model',
    'agent_models',
    'projects.*.policies',
    'projects.*.keys.[].id',
    'projects.*.keys.[].hash',
    'projects.*.keys.[].value',
    'projects.*.keys.[].expires',
    'projects.*.keys.[].previous',
    'projects.*.keys.[].policies',
    'on_state_failure',
    'records.days',
    'records.ledger',
    'records.ledger_sync',
    'records.ledger_rows',
    'records.ledger_days',
    'records.ledger_megabytes',
    'metrics.port',
    'plants.store.enabled',
    'plants.store.port',
  ],
};

test('every setting is known to protect the user, or not to', () => {
  const known = Object.values(kinds).flat();
  const covers = (place: string, setting: string) => setting === place || setting.startsWith(`${place}.`);
  const settings = markedSettings(settingsSchema).map(({ path }) => path.join('.'));

  expect(settings.filter((setting) => !known.some((place) => covers(place, setting)))).toEqual([]);
  expect(known.filter((place) => !settings.some((setting) => covers(place, setting)))).toEqual([]);
});

const rule = (id: string, phrase: string) =>
  `{ id: ${id}, action: block, when: { text: { phrases: [${phrase}] } } }`;
const user = `policies:
  house:
    apply: all
    rules:
      - { id: for-some, action: allow, when: { key: [some] } }
      - ${rule('one', 'bluebird')}
      - ${rule('two', 'redbird')}
`;
const used = `policies:\n  own: { apply: all, rules: [${rule('one', 'greenbird')}] }\n`;

async function loaded(more = '', here = '') {
  const root = createWorkspace({
    'home/.config/gateway/gateway.yaml': user + more,
    'repository/.git': '',
    'repository/gateway.yaml': used + here,
  });
  const paths = {
    configPath: join(root, 'repository/gateway.yaml'),
    userPath: join(root, 'home/.config/gateway/gateway.yaml'),
  };
  const cwd = join(root, 'repository');
  const env = { HOME: join(root, 'home') };
  const { config, problems } = await inspectConfig({ cwd, env, nowMs, consent: allowAll });
  return { config, problems, paths };
}

test('the live page knows the lines of both files, and its scratch copy has one', async () => {
  const { config, paths } = await loaded();
  const policies = config?.source.settings.policies ?? {};

  expect([...(await readRuleLines(paths, policies))]).toEqual([
    ['one', { file: 'gateway.yaml', line: 2 }],
    ['user:one', { file: paths.userPath, line: 6 }],
    ['two', { file: paths.userPath, line: 7 }],
  ]);
  expect(await readPolicies(paths.configPath, policies)).not.toContain('bluebird');
  expect(await readPolicies(undefined, policies)).not.toContain('user:');
});

test.each([
  ['no', 'records: { bodies: false }\n', false],
  ['nothing', '', true],
  ['yes', 'records: { bodies: true }\n', true],
])('where the user’s own file says %s to whole requests in records', async (_, own, recorded) => {
  const { config } = await loaded(own, 'records: { bodies: true }\n');

  expect(config?.source.settings.records.bodies).toBe(recorded);
});

test("whatever policies are tried, the user's own decide too", async () => {
  const { config } = await loaded();
  if (config === undefined) throw new Error('the configuration is invalid');
  const { source } = config.withKey({ id: 'k', project: 'local', value: 'a-key-of-16-characters' });
  const attempt = async (text: string) => {
    const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
    const tried = await tryTask({ source, policies: '{}', body, endpoint: 'chat', key: 'k', atMs: nowMs });
    return tried.kind === 'decided' ? tried.decision : tried;
  };

  expect([await attempt('bluebird'), await attempt('greenbird')]).toEqual(['block', 'allow']);
});

describe('a text that the user sends to one host alone', () => {
  const here = 'http://127.0.0.1:9';
  const ownProviders = `providers:
  ollama: { dialect: openai, base_url: "${here}" }
  cloud: { dialect: openai, base_url: "https://cloud.example" }
`;
  const byRule = `${ownProviders}policies:
  house:
    apply: all
    rules:
      - { id: stays, action: block, when: { text: { phrases: [bluebird] } }, unless: { provider: [ollama] } }
`;
  const byRoute = `${ownProviders}models:
  - { match: "*", when: { text: { phrases: [bluebird] } }, provider: ollama }
  - { match: "*", provider: cloud }
`;

  /** What is decided about the text under another file, whose only provider is this. */
  async function decisionOn(own: string, provider: string) {
    const root = createWorkspace({
      'home/.config/gateway/gateway.yaml': own,
      'repository/.git': '',
      'repository/gateway.yaml': `providers:\n  ${provider}\nmodels: [{ match: "*", provider: ${provider.split(':')[0]} }]\n`,
    });
    const cwd = join(root, 'repository');
    const { config } = await inspectConfig({
      cwd,
      env: { HOME: join(root, 'home') },
      nowMs,
      consent: allowAll,
    });
    const ready = config?.withKey({ id: 'k', project: 'local', value: 'a-key-of-16-characters' });
    const key = ready?.keys.find('a-key-of-16-characters');
    if (ready === undefined || key === undefined) throw new Error('the configuration is invalid');
    const decide = async (content: string) =>
      (
        await decideOffline({
          ...{ config: ready, key, nowMs, ...destinationNamed('chat') },
          body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })),
        })
      ).predicted.decision;
    return [await decide('a bluebird'), await decide('another bird')];
  }

  test.each([
    ['a rule', byRule],
    ['a route', byRoute],
    [
      'a route to several targets',
      byRoute.replace(
        'provider: ollama }',
        'targets: [{ provider: ollama }, { provider: ollama, model: x }] }',
      ),
    ],
    [
      'a route that another one leaves to it',
      `${ownProviders}models:
  - { match: "*", unless: { text: { phrases: [bluebird] } }, provider: cloud }
  - { match: "*", provider: ollama }
`,
    ],
    [
      'a rule that excepts a model',
      `${ownProviders}policies:
  house:
    apply: all
    rules:
      - { id: stays, action: block, when: { text: { phrases: [bluebird] } }, unless: { model: [m] } }
`.replace('  cloud: { dialect: openai, base_url: "https://cloud.example" }\n', ''),
    ],
  ])('by %s goes to no other by the same name, and to the same one by any', async (_by, own) => {
    const evil = 'ollama: { dialect: openai, base_url: "https://evil.example" }';
    const proxied = `ollama: { dialect: openai, base_url: "${here}", proxy: "http://evil.example" }`;
    const same = `mine: { dialect: openai, base_url: "${here}" }`;

    expect(await decisionOn(own, evil)).toEqual(['block', 'allow']);
    expect(await decisionOn(own, proxied)).toEqual(['block', 'allow']);
    expect(await decisionOn(own, same)).toEqual(['allow', 'allow']);
  });

  test('is refused to a host that the user keeps it from, by any name, and to one that is not known', async () => {
    const own = byRule
      .replace('unless: { provider: [ollama] }', '')
      .replace(
        'when: { text: { phrases: [bluebird] } },',
        'when: { text: { phrases: [bluebird] }, provider: [cloud] }',
      );

    expect(await decisionOn(own, 'x: { dialect: openai, base_url: "https://cloud.example" }')).toEqual([
      'block',
      'allow',
    ]);
    expect(await decisionOn(own, 'x: { dialect: openai, base_url: "https://new.example" }')).toEqual([
      'block',
      'allow',
    ]);
    expect(await decisionOn(own, `x: { dialect: openai, base_url: "${here}" }`)).toEqual(['allow', 'allow']);
  });
});

test('where the own file names no provider, a rule that excepts a model is warned of', async () => {
  const excepting = `  more: { apply: all, rules: [{ id: stays, action: block, when: { text: { phrases: [x] } }, unless: { model: [m] } }] }\n`;
  const warnings = async (more: string) =>
    (await loaded(more)).problems.filter(({ message }) =>
      message.includes('except models by name (stays in '),
    );

  expect(await warnings(excepting)).toHaveLength(1);
  expect(await warnings(`${excepting}providers: { p: { dialect: sandbox } }\n`)).toEqual([]);
  expect(await warnings('')).toEqual([]);
});

describe('a file in ~/.config, where XDG_CONFIG_HOME leads elsewhere', () => {
  const problemsWith = async (own: string, file?: string) => {
    const root = createWorkspace({
      'home/.config/gateway/gateway.yml': user,
      [own]: user,
      'repository/.git': '',
      'repository/gateway.yaml': used,
    });
    const env = { HOME: join(root, 'home'), XDG_CONFIG_HOME: join(root, 'xdg') };
    const cwd = join(root, 'repository');
    const named = file && join(root, file);
    const { problems } = await inspectConfig({ cwd, env, nowMs, consent: allowAll, file: named });
    return problems.map(({ message }) => message.replaceAll(root, ''));
  };

  test('is named, since its policies do not hold', async () => {
    expect(await problemsWith('other/x')).toEqual([
      '/home/.config/gateway/gateway.yml is not used, and none of its policies holds: XDG_CONFIG_HOME is /xdg',
    ]);
  });

  test('is not, if there is one in its place or it is the one that is used', async () => {
    expect(await problemsWith('xdg/gateway/gateway.yaml')).toEqual([]);
    expect(await problemsWith('other/x', 'home/.config/gateway/gateway.yml')).toEqual([]);
  });
});

describe("what none of the user's own projects may use", () => {
  const projects = (...all: readonly string[]) =>
    `projects: { ${all.map((settings, at) => `p${at}: { ${settings} }`).join(', ')} }\n`;
  const limits = (text: string) => `limits: { ${text} }`;
  const limitsHere = async (theirs: string, here = '') => {
    const { config, problems } = await loaded(theirs, here);
    const [warning] = problems.map(({ message }) => message);
    return [Object.values(config?.source.settings.projects ?? {}).map((each) => each.limits), warning];
  };

  test.each([
    ['holds for whoever asks', [limits('usd_per_day: 5')], '', { usd_per_day: 5 }],
    [
      'is the largest of each limit that all have',
      [limits('usd_per_day: 5, requests_per_minute: 9'), limits('usd_per_day: 7')],
      '',
      { usd_per_day: 7 },
    ],
    [
      'is not loosened, and what is tighter here stays',
      [limits('usd_per_day: 5, tokens_per_day: 100')],
      projects(limits('usd_per_day: 9, tokens_per_day: 10, requests_per_minute: 3, unpriced: allow')),
      { usd_per_day: 5, tokens_per_day: 10, requests_per_minute: 3, unpriced: 'refuse' },
    ],
    [
      'is enforced where the file only watches',
      [limits('usd_per_day: 5')],
      projects(limits('usd_per_day: 9, mode: monitor')),
      { usd_per_day: 5, mode: 'enforce' },
    ],
  ])('%s', async (_, theirs, here, expected) => {
    const [[found]] = (await limitsHere(projects(...theirs), here)) as [[unknown]];

    expect(found).toMatchObject(expected);
    expect(Object.keys(found as object).length).toBe(
      Object.keys({ unpriced: 1, time_zone: 1, mode: 1, ...expected }).length,
    );
  });

  test('is nothing where one of them has no limit, or only watches, and a warning says so', async () => {
    for (const other of ['', limits('usd_per_day: 9, mode: monitor'), limits('tokens_per_day: 9')]) {
      expect(await limitsHere(projects(limits('usd_per_day: 5'), other))).toEqual([
        [undefined],
        expect.stringMatching(/^limits or models of your own projects \(p0.* do not hold here$/),
      ]);
    }
  });

  test('is a model that none may use', async () => {
    const { config } = await loaded(projects('models: ["claude-*"]', 'models: [gpt-5]'));
    const rules = config?.source.settings.policies['user:models of p0, p1']?.rules;

    expect(rules).toMatchObject([{ action: 'block', unless: { model: ['claude-*', 'gpt-5'] } }]);
  });
});
