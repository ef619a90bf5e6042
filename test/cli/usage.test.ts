import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

async function home(rows: readonly LedgerRow[]): Promise<string> {
  const cwd = directoryWith('records: { ledger: true }\n');
  mkdirSync(join(cwd, '.local/state/gateway'), { recursive: true, mode: 0o700 });
  const file = await openLedgerFile(join(cwd, '.local/state/gateway/ledger.sqlite'));
  file.add(rows);
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

const none = { 'gateway.yaml': 'records: { ledger: true }\n' };
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
