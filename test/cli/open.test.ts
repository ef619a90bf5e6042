import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenHeader } from '../../src/inspector/contract/actions.ts';
import { command, failure, startServing } from '../kit/command.ts';

test('open prints a link that opens the page once', async () => {
  const { home: cwd } = await startServing();
  const { stdout, exit } = await command('open', { cwd });
  const [, url, token] = /^(http:\/\/127\.0\.0\.1:\d+)\/_\/#token=([0-9a-f]{64})\n$/.exec(stdout) ?? [];
  const open = () =>
    fetch(`${url}/_/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
  const first = await open();
  const { token: half } = (await first.json()) as { token: string };
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const now = await fetch(`${url}/_/api/now`, { headers: { cookie, [tokenHeader]: half } });

  expect((await command('open -o json', { cwd })).json.url).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/_\/#token=[0-9a-f]{64}$/,
  );
  expect([exit, now.status, (await open()).status]).toEqual([0, 200, 401]);
  // A session is in the gateway's memory only.
  expect(existsSync(join(cwd, '.local/state/gateway/inspector.json'))).toBe(false);
}, 60_000);

test('open says so where no gateway is running', async () => {
  expect(await command('open')).toEqual(failure(8, 'gateway serve'));
});
