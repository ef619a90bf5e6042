import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedgerFile } from '../../src/record/ledger/ledger-file.ts';
import type { LedgerRow } from '../../src/record/ledger/ledger-row.ts';
import { command, directoryWith, emptyDirectory } from '../kit/command.ts';

const hourMs = 3_600_000;
const row = (id: number, values: Partial<LedgerRow>): LedgerRow => ({
  requestId: `req_${id}`,
  startedMs: Date.now() - hourMs,
  project: 'shop',
  keyId: 'shop-web',
  endpoint: 'chat',
  model: 'm',
  provider: 'host',
  targetModel: 'm',
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  reason: null,
  inputTokens: 10,
  outputTokens: 20,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  reasoningTokens: 1,
  nanoUsd: 1_500_000,
  isEstimated: false,
  firstByteMs: 1,
  totalMs: 2,
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
  row(2, { nanoUsd: null, isEstimated: true }),
  row(3, { project: 'other', keyId: 'other, web', model: 'n' }),
  row(4, { startedMs: Date.now() - 10 * 24 * hourMs }),
];

test('json is an array of rows, each with what it is by', async () => {
  const cwd = await home(some);

  const { exit, stdout } = await command(['usage', '-o', 'json'], { cwd });

  expect(exit).toBe(0);
  const sums = {
    cache_read_tokens: 3,
    cache_write_tokens: 2,
    reasoning_tokens: 1,
    estimated: 0,
    unpriced: 0,
  };
  expect(JSON.parse(stdout)).toEqual([
    { project: 'other', requests: 1, input_tokens: 10, output_tokens: 20, cost_usd: 0.0015, ...sums },
    {
      project: 'shop',
      requests: 2,
      input_tokens: 20,
      output_tokens: 40,
      cache_read_tokens: 6,
      cache_write_tokens: 4,
      reasoning_tokens: 2,
      cost_usd: 0.0015,
      estimated: 1,
      unpriced: 1,
    },
  ]);
});

test('in a pipe text is tab-separated, and --since decides how far back it goes', async () => {
  const cwd = await home(some);

  expect((await command(['usage', '--by', 'model', '--since', '30d'], { cwd })).stdout).toBe(
    'm\t3\t30\t60\t9\t6\t3\t0.003\t1\t1\nn\t1\t10\t20\t3\t2\t1\t0.0015\t0\t0\n',
  );
  expect(
    (await command(['usage', '--by', 'day', '--since', '4w'], { cwd })).stdout.trim().split('\n'),
  ).toHaveLength(2);
});

test('csv has a header, and cells that need quotes have them', async () => {
  const cwd = await home(some);

  const { stdout } = await command(['usage', '--by', 'key', '--csv'], { cwd });

  expect(stdout.split('\r\n').slice(0, 2)).toEqual([
    'key,requests,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_usd,estimated,unpriced',
    '"other, web",1,10,20,3,2,1,0.0015,0,0',
  ]);
});

test('on a terminal it is a table', async () => {
  const cwd = await home(some);

  expect(await command(['usage'], { cwd, isTerminal: true })).toMatchObject({
    stdout: expect.stringMatching(/PROJECT +REQUESTS +INPUT TOKENS/),
  });
});

test('what cannot be answered says why', async () => {
  const cwd = directoryWith('records: { ledger: true }\n');
  expect(await command(['usage'], { cwd })).toMatchObject({
    exit: 0,
    stderr: 'nothing was served yet: the first request makes the ledger\n',
  });
  expect(await command(['usage', '-o', 'json'], { cwd })).toMatchObject({ exit: 0, stdout: '[]\n' });
  expect(await command(['usage', '-q'], { cwd })).toMatchObject({ exit: 0, stderr: '' });
  expect((await command(['usage', '--since', 'yesterday'], { cwd })).exit).toBe(2);
  expect((await command(['usage', '--csv', '-o', 'json'], { cwd })).exit).toBe(2);

  writeFileSync(join(cwd, 'gateway.yaml'), 'records: { ledger: true, ledger_file: broken.sqlite }\n', {
    mode: 0o600,
  });
  writeFileSync(join(cwd, 'broken.sqlite'), 'not a database, whatever its name is', { mode: 0o600 });
  const broken = await command(['usage'], { cwd });
  expect(broken.exit).toBe(2);
  expect(broken.stderr).toContain('broken.sqlite');
});

test('says why there is no ledger', async () => {
  const directory = emptyDirectory();
  const sandboxMode = await command(['usage', '-o', 'json'], { cwd: directory });
  writeFileSync(
    join(directory, 'gateway.yaml'),
    'providers: { s: { dialect: sandbox } }\nrecords: { ledger: false }\n',
  );
  const configured = await command(['usage'], { cwd: directory });

  expect(sandboxMode).toEqual({
    exit: 0,
    stdout: '[]\n',
    stderr: 'no ledger is kept in sandbox mode; "gateway init" writes a configuration\n',
  });
  expect(configured.exit).toBe(2);
  expect(configured.stderr).toContain('records.ledger is false');
});
