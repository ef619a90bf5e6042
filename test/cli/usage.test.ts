import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localDay } from '../../src/cli/shell/print/print.ts';
import { openLedgerFile } from '../../src/record/ledger/ledger-file.ts';
import type { LedgerRow } from '../../src/record/ledger/ledger-row.ts';
import { command, directoryWith, type Environment, failure, printed } from '../kit/command.ts';
import type { Files } from '../kit/own-configuration.ts';
import { row as anyRow } from '../record/ledger/rows.ts';

const hourMs = 3_600_000;
const tokens = (requests: number) => ({
  input_tokens: 10 * requests,
  output_tokens: 20 * requests,
  cache_read_tokens: 3 * requests,
  cache_write_tokens: 2 * requests,
});
const row = (id: number, values: Partial<LedgerRow>): LedgerRow => ({
  ...anyRow(`req_${id}`),
  started_ms: Date.now() - hourMs,
  ...tokens(1),
  reasoning_tokens: 1,
  nano_usd: 1_500_000,
  ...values,
});

async function home(rows: readonly LedgerRow[], more = ''): Promise<string> {
  const cwd = directoryWith(`records: { ledger: true }\n${more}`);
  mkdirSync(join(cwd, '.local/state/gateway'), { recursive: true, mode: 0o700 });
  const file = await openLedgerFile(join(cwd, '.local/state/gateway/ledger.sqlite'));
  file.add({ rows });
  file.close();
  return cwd;
}

const some = [
  row(1, {}),
  row(2, { nano_usd: null, is_estimated: 1 }),
  row(3, { project: 'other', key_id: 'other, web', model: 'n' }),
  row(4, { started_ms: Date.now() - 10 * 24 * hourMs }),
];

const usage = async (line: string, environment: Environment = {}) =>
  command(`usage ${line}`.trim(), { cwd: await home(some), ...environment });

test('json is an array of rows, each with what it is by', async () => {
  const { exit, json } = await usage('-o json');

  expect(exit).toBe(0);
  const rest = { reasoning_tokens: 1, cost_usd: 0.0015, estimated: 0, unpriced: 0 };
  expect(json).toEqual([
    { project: 'other', requests: 1, ...tokens(1), ...rest },
    { project: 'shop', requests: 2, ...tokens(2), ...rest, reasoning_tokens: 2, estimated: 1, unpriced: 1 },
  ]);
});

test('by provider-key it sums up the rows of each key, what has none by its provider', async () => {
  const rows = [
    row(1, { provider: 'anthropic/work' }),
    row(2, { provider: 'anthropic/work', nano_usd: null }),
    row(3, { provider: 'anthropic/spare' }),
    row(4, { provider: 'ollama' }),
    row(5, { provider: 'ollama', started_ms: Date.now() - 10 * 24 * hourMs }),
  ];

  expect(await command('usage --by provider-key', { cwd: await home(rows) })).toEqual(
    printed(
      'anthropic/spare\t1\t10\t20\t3\t2\t1\t0.0015\t0\t0\nanthropic/work\t2\t20\t40\t6\t4\t2\t0.0015\t0\t1\nollama\t1\t10\t20\t3\t2\t1\t0.0015\t0\t0\n',
    ),
  );
});

test('in a pipe text is tab-separated, and --since decides how far back it goes', async () => {
  expect(await usage('--by model --since 30d')).toEqual(
    printed('m\t3\t30\t60\t9\t6\t3\t0.003\t1\t1\nn\t1\t10\t20\t3\t2\t1\t0.0015\t0\t0\n'),
  );
  expect((await usage('--by day --since 4w')).stdout.trim().split('\n')).toHaveLength(2);
});

test('csv has a header, and cells that need quotes have them', async () => {
  const { stdout } = await usage('--by key --csv');

  expect(stdout.split('\r\n').slice(0, 2)).toEqual([
    'key,requests,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_usd,estimated,unpriced',
    '"other, web",1,10,20,3,2,1,0.0015,0,0',
  ]);
});

test('a table has numbers on the right, money with as many decimals, and a total', async () => {
  const { stdout } = await usage('', { isTerminal: true, columns: 200 });

  const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/g, '|'));
  expect(lines[0]).toMatch(/^PROJECT\|REQUESTS\|INPUT TOKENS\|/);
  expect(lines.slice(1)).toEqual([
    'other|1|10|20|3|2|1|0.0015|0|0',
    'shop|2|20|40|6|4|2|0.0015|1|1',
    'TOTAL|3|30|60|9|6|3|0.0030|1|1',
    '',
  ]);
  expect(stdout.split('\n').map((line) => line.length)).toEqual(expect.arrayContaining([0]));
  expect(
    new Set(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.length),
    ).size,
  ).toBe(1);
});

test('a total of one row would say the same again', async () => {
  expect((await usage('--by model -o table --since 24h')).stdout).toContain('TOTAL');
  const one = await home([row(1, {})]);
  expect((await command('usage -o table', { cwd: one })).stdout).not.toContain('TOTAL');
});

test('a month is one of the calendar here, and today begins at midnight', async () => {
  const at = (text: string, id: number) => row(id, { started_ms: new Date(text).getTime() });
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const cwd = await home([
    at('2026-09-30T23:59:59', 1),
    at('2026-10-01T00:00:00', 2),
    at('2026-10-31T23:59:59', 3),
    at('2026-11-01T00:00:00', 4),
    row(5, { started_ms: midnight.getTime() - 1 }),
    row(6, { started_ms: midnight.getTime() }),
  ]);
  const requests = async (line: string) =>
    ((await command(`usage ${line} -o json`, { cwd })).json as { requests: number }[])[0]?.requests;

  expect(await requests('--month 2026-10')).toBe(2);
  expect(await requests('--month 2026-08')).toBe(undefined);
  expect(await requests('--today')).toBe(1);
  const empty = await command('usage --month 2026-08', { cwd });
  expect([empty.exit, empty.stderr]).toEqual([0, 'no request in this time\n']);
});

test.each([
  '--month --since 7d',
  '--today --month',
  '--month 2026-13',
  '--budgets --by key',
  '--budgets --csv -o json',
])('usage %s is wrong usage', async (line) => {
  expect(await usage(line)).toEqual(failure(2, ''));
});

const budgeted = `
providers: { s: { dialect: sandbox } }
models: [{ match: "*", provider: s }]
records: { ledger: true, ledger_file: .local/state/gateway/ledger.sqlite }
projects:
  shop:
    limits: { usd_per_month: 20, requests_per_minute: 5 }
    keys: [{ id: shop-web, hash: "sha256:${'0'.repeat(64)}", limits: { tokens_per_day: 100, mode: monitor } }]
`;

test('budgets: what is used, left, and when it starts again; with nothing open nothing is reserved', async () => {
  const now = Date.now();
  const cwd = await home([row(1, { started_ms: now, nano_usd: 1_250_000_000 })]);
  writeFileSync(join(cwd, 'gateway.yaml'), budgeted);

  const { json } = await command('usage --budgets -o json', { cwd });
  const piped = await command('usage --budgets', { cwd });
  const { stdout } = await command('usage --budgets', { cwd, isTerminal: true, columns: 60 });

  const day = new Date(now).toISOString().slice(0, 10);
  const nextDay = new Date(Date.parse(`${day}T00:00:00Z`) + 24 * hourMs).toISOString();
  expect(json).toEqual([
    expect.objectContaining({
      name: 'shop',
      limit: 'usd_per_month',
      used: 1.25,
      reserved: 0,
      left: 18.75,
      max: 20,
    }),
    {
      scope: 'key',
      name: 'shop-web',
      limit: 'tokens_per_day',
      mode: 'monitor',
      max: 100,
      used: 30,
      reserved: 0,
      left: 70,
      resets_at: nextDay,
    },
  ]);
  expect(piped.stdout).toMatch(
    /^project\tshop\tusd_per_month\t1.25\t0\t18.75\t20\t20\d\d-\S+Z\tenforce\nkey\t/,
  );
  expect(stdout).toMatch(/^NAME .*LEFT/m);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
});

const none = { 'gateway.yaml': 'records: { ledger: true }\n' };

test('a configuration without budgets says what one would be', async () => {
  const said = /^no budget is configured: limits of projects and keys, such as usd_per_month\n$/;
  expect(await usage('--budgets')).toEqual(failure(0, said));
  // Before the first request too, that is all there is to say.
  expect(await command('usage --budgets', { files: none })).toEqual(failure(0, said));
});

test.each<[string, string, Files, object]>([
  [
    'before the first request',
    'usage',
    none,
    failure(0, /^nothing was served yet: the first request makes the ledger\n$/),
  ],
  ['the same for programs', 'usage -o json', none, expect.objectContaining({ exit: 0, stdout: '[]\n' })],
  [
    'a ledger that is none',
    'usage',
    {
      'gateway.yaml': 'records: { ledger: true, ledger_file: broken.sqlite }\n',
      'broken.sqlite': 'not a database, whatever its name is',
    },
    failure(2, 'broken.sqlite'),
  ],
  ['a time that is none', 'usage --since yesterday', none, failure(2, '')],
  [
    'sandbox mode',
    'usage -o json',
    {},
    {
      exit: 0,
      stdout: '[]\n',
      stderr: 'no ledger is kept in sandbox mode; "gateway init" writes a configuration\n',
    },
  ],
  [
    'a configuration without a ledger',
    'usage',
    { 'gateway.yaml': 'providers: { s: { dialect: sandbox } }\nrecords: { ledger: false }\n' },
    failure(2, 'records.ledger is false'),
  ],
])('says what cannot be answered, and why: %s', async (_name, line, files, expected) => {
  expect(await command(line, { files })).toEqual(expected);
});

// Half an hour before October began in UTC: it had begun in the east, and had not in the west.
const lateInSeptember = Date.parse('2026-09-30T23:30:00Z');
const zoned = (...zones: readonly string[]) =>
  zones.map((zone, i) => `p${i}: { limits: { usd_per_day: 5, time_zone: ${zone} } }`).join();

test.each([
  ['--by day --month 2026-10', zoned('Pacific/Kiritimati'), '2026-10-01'],
  ['--by day --month 2026-10', zoned('Pacific/Pago_Pago'), undefined],
  ['--by day --month 2026-09', zoned('Pacific/Pago_Pago'), '2026-09-30'],
  ['--by day --month 2026-10', zoned('Pacific/Kiritimati', 'Pacific/Kiritimati'), '2026-10-01'],
  // This machine's zone is that of the test run.
  ['--by day --since 36500d', zoned('Pacific/Kiritimati', 'UTC'), localDay(lateInSeptember)],
  [
    '--by day --since 36500d',
    'p: { limits: { requests_per_minute: 5, time_zone: Pacific/Kiritimati } }',
    localDay(lateInSeptember),
  ],
])('%s has the days of the budgets: %s', async (line, projects, day) => {
  const cwd = await home([row(1, { started_ms: lateInSeptember })], `projects: { ${projects} }\n`);

  const { stdout } = await command(`usage ${line}`, { cwd });

  expect(stdout.split('\t')[0] || undefined).toBe(day);
});
