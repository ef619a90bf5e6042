import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenHeader } from '../../src/inspector/contract/session.ts';
import { command, emptyDirectory, startCommand } from '../kit/command.ts';

test('open prints a link that opens the page once', async () => {
  const home = emptyDirectory();
  const gateway = startCommand(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], { cwd: home });
  await gateway.wrote('stderr', 'listening');
  try {
    const { stdout, exit } = await command(['open'], { cwd: home });
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

    const { url: again } = JSON.parse((await command(['open', '-o', 'json'], { cwd: home })).stdout);
    expect(again).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/_\/#token=[0-9a-f]{64}$/);
    expect(exit).toBe(0);
    expect(now.status).toBe(200);
    expect((await open()).status).toBe(401);
    // A session is in the gateway's memory only.
    expect(existsSync(join(home, '.local/state/gateway/inspector.json'))).toBe(false);
  } finally {
    gateway.signal('SIGTERM');
    await gateway.ended;
  }
}, 60_000);

test('open says so where no gateway is running', async () => {
  const { exit, stderr } = await command(['open']);

  expect(exit).toBe(8);
  expect(stderr).toContain('gateway serve');
});
