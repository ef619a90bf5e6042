// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import {
  ConfigError,
  formatPath,
  formatProblem,
  type Problem,
  suggest,
} from '../../../src/config/source/problems.ts';
import { createWorkspace, inspect, nowMs, problemsOf } from '../workspace.ts';

test('reports all problems at once, each with its line, a caret and a suggestion', async () => {
  const cwd = createWorkspace({
    'gateway.yaml': `server:
  prot: 4100
providers:
  openai: { dialect: opnai }
models:
  - { match: "gpt-*", provider: openia }
policies:
  sandbox:
    rules:
      - id: only
        action: blok
`,
  });

  const error = await loadConfig({ cwd, env: { HOME: cwd }, nowMs }).catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ code: 'config.invalid', failure: { exit: 2 } });
  expect((error as ConfigError).message).toBe(`4 problems in gateway.yaml
gateway.yaml:2:3  server.prot: unknown key
   2 |   prot: 4100
     |   ^^^^  did you mean "port"?
gateway.yaml:4:22  providers.openai.dialect: expected sandbox, anthropic, openai, gemini, bedrock or vertex
   4 |   openai: { dialect: opnai }
     |                      ^^^^^  did you mean "openai"?
gateway.yaml:6:33  models[0].provider: there is no provider openia
   6 |   - { match: "gpt-*", provider: openia }
     |                                 ^^^^^^
gateway.yaml:11:17  policies.sandbox.rules[0].action: expected allow, warn, mask, redact or block
  11 |         action: blok
     |                 ^^^^  did you mean "block"?`);
});

test.each(
  // biome-ignore format: a case a line
  [
    ['server: 5', '1:9  server: expected a group of settings'],
    ['server: { port: "80" }', '1:17  server.port: expected a number'],
    ['server: { port: -1 }', '1:17  server.port: expected at least 0'],
    ['server: { limits: { drain: 0s, head_timeout: 0s } }', '1:46  server.limits.head_timeout: expected more than 0: the time-out cannot be turned off'],
    ['server: { limits: { body_size: 1GiB } }', '1:32  server.limits.body_size: expected at most 256MiB'],
    ['server: { limits: { head_timeout: 10 } }', '1:35  server.limits.head_timeout: a unit is missing: 10s, 10ms or 10m'],
    ['server: { limits: { head_timeout: soon } }', '1:35  server.limits.head_timeout: expected a duration such as 500ms, 10s, 5m or 1h'],
    ['server:', '1:1  server: expected a group of settings, got nothing: remove the key or give it a value'],
    ['providers: { "a b": { dialect: sandbox } }', '1:14  providers."a b": expected a name of at most 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit'],
    ['providers: { a: { base_url: "http://h" } }', '1:14  providers.a.dialect: missing: expected sandbox, anthropic, openai, gemini, bedrock or vertex'],
    ['providers: { a: { dialect: openai, base_url: "ftp://h" } }', '1:46  providers.a.base_url: expected an http:// or https:// URL'],
    ['providers: { a: { dialect: openai, base_url: "http://u:p@h" } }', '1:46  providers.a.base_url: a URL here must not hold credentials; use api_key'],
    ['providers: { a: { dialect: openai, base_url: "http://h/?a=b" } }', '1:46  providers.a.base_url: a URL here must have neither a query nor a fragment'],
    ['providers: { a: { dialect: anthropic, endpoints: [chat] } }', '1:51  providers.a.endpoints[0]: a host of dialect anthropic has no chat: it has messages, count_tokens'],
    ['providers: { a: { dialect: sandbox, base_url: "http://h" } }', '1:37  providers.a.base_url: the sandbox is built in and takes none'],
    ['providers: { a: { dialect: openai, forward_headers: [Authorization] } }', '1:54  providers.a.forward_headers[0]: this header is never passed on'],
    ['models: [{ match: "a&b", provider: sandbox }]', '1:19  models[0].match: expected a model name or pattern: letters, digits, . _ : / @ + - # ( ) [ ], blanks inside, and * for any run of characters'],
    ['models: [{ match: a, provider: sandbox, fallbacks: [{ provider: sandbx }] }]', '1:65  models[0].fallbacks[0].provider: there is no provider sandbx'],
    ['projects: { shop: { policies: [hose] } }\npolicies: { house: {} }', '1:32  projects.shop.policies[0]: there is no policy hose'],
    ['__proto__: { a: 1 }', '1:1  __proto__ is not allowed as a key'],
    ['server: { port: 1, port: 2 }', '1:20  this key is already on line 1'],
    ['records: { ledger: false, ledger_sync: always }', '1:40  records.ledger_sync: there is no ledger to write through'],
    ['server: ${WHERE}', '1:9  server: environment variable WHERE is not set'],
    ['server: { host: "${a b}" }', '1:17  server.host: expected ${NAME}'],
  ],
)('%s: %s', async (yaml, expected) => {
  const problems = await problemsOf(yaml);

  expect(problems.filter((problem) => !problem.includes('  warning: '))).toEqual([
    `gateway.yaml:${expected}`,
  ]);
});

const detecting = (...detect: readonly string[]) =>
  `policies: { house: { rules: [{ id: a, action: block, when: { text: { detect: [${detect}] } } }] } }`;

test.each(
  // biome-ignore format: a case a line
  [
    [detecting('credit_crad'), 'detect.0', /^expected credit_card, /, 'did you mean "credit_card"?'],
    [detecting('{ sercets: possible }'), 'detect.0.sercets', /^unknown key$/, 'did you mean "secrets"?'],
    [detecting('email', '{ crypto_wallet: certian }'), 'detect.1.crypto_wallet', /^expected possible, likely or certain$/, 'did you mean "certain"?'],
    ['policies: { house: { rules: [{ id: a, action: block, when: { model: [x] }, tests: [x] }] } }', 'tests', /^expected a group of settings$/, 'its settings are block and allow'],
    ['providers:\n  a: { dialect: openai, api_key: ${KEY} }\n', '', /./, 'inside { } and [ ] write "${NAME}" in quotes'],
  ],
)('%s: says where, and what was meant', async (yaml, path, message, hint) => {
  const { problems } = await inspect(yaml, { KEY: 'x' });

  expect(problems[0]).toMatchObject({ message: expect.stringMatching(message), hint });
  expect(problems[0]?.path.join('.')).toMatch(new RegExp(`${path}$`));
});

test.each([
  'projects: { shop: { keys: [{ id: a, value: correct-horse-battery, bad: 1 }] } }',
  'providers: { a: { dialect: openai, api_kye: correct-horse-battery } }',
  'providers: { a: { dialect: nope, api_key: correct-horse-battery } }',
  'providers: { a: { dialect: openai, base_url: "https://user:correct-horse-battery@h" } }',
  'providers: { a: { dialect: openai, proxy: "user:correct-horse-battery@h" } }',
  'providers: { a: { dialect: openai, proxy: "http://user:a/correct-horse-battery@h" } }',
  'plants: { store: { database: "postgres://u:correct-horse-battery@h/x", bad: 1 } }',
  'providers:\n  a: { dialect: openai, api_key: correct-horse-battery, [ }',
])('never shows a secret of the file: %s', async (yaml) => {
  const { problems, config } = await inspect(yaml);

  expect(config).toBeUndefined();
  expect(JSON.stringify(problems)).not.toContain('correct-horse');
});

test.each([
  [
    'a limit',
    'projects: { shop: { limits: { tokens_per_day: 100000, api_key: 7 } } }',
    ['100000', 'api_key: *'],
  ],
  ['a model', 'models: [{ match: "*", max_output_tokens: 4096, token: secret }]', ['4096', 'token: ***']],
  ['a key', 'projects: { shop: { keys: [{ id: a, value: 12345678, bad: 1 }] } }', ['value: ***']],
])('quotes the numbers of settings whose name sounds secret: %s', async (_what, yaml, shown) => {
  const { problems } = await inspect(yaml);

  for (const text of shown) expect(problems[0]?.place?.source).toContain(text);
});

test('names the place in a line that is too long to be quoted', async () => {
  const { problems } = await inspect(
    JSON.stringify({
      server: { prot: 4100 },
      default_model: 'a'.repeat(200),
      models: Array(40).fill('wrong'),
    }),
  );

  const [{ place } = {}] = problems;
  expect(place).toEqual({ line: 1, column: 12, length: 6 });
  const text = formatProblem(problems[0] as Problem, 'gateway.json');
  expect(text).toBe('gateway.json:1:12  server.prot: unknown key; did you mean "port"?');
});

test('does not unfold a file of aliases that grows without end', async () => {
  const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);

  const { config, problems } = await inspect(`l0: &l0 [x]\n${levels.join('\n')}\n`);

  expect(config).toBeUndefined();
  expect(problems[0]?.message).toMatch(/alias/);
});

test('paths name list entries by number and quote names with dots', () => {
  expect(formatPath(['models', 2, 'match'])).toBe('models[2].match');
  expect(formatPath(['providers', 'a.b', 'dialect'])).toBe('providers."a.b".dialect');
});

test('suggests what is a slip away and nothing that is not', () => {
  expect(suggest('blok', ['allow', 'warn', 'redact', 'block'])).toBe('did you mean "block"?');
  expect(suggest('prot', ['host', 'port'])).toBe('did you mean "port"?');
  expect(suggest('xyz', ['host', 'port'])).toBeUndefined();
});
