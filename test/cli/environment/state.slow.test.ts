import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin } from '../../kit/build.ts';
import { homeWith } from '../../kit/command.ts';

// Commands that use the state directory, as a user without a home, with one that can't be written, and with another user's
// directory; those that write to it refuse each, those that read it another user's.

/** In no /etc/passwd, as a container's numeric user. */
const nobody = { uid: 54_321, gid: 54_321 };
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, [bin, '--version'], nobody).status === 0;

const files = {
  'work/gateway.yaml': `server: { port: 0 }
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
plants: { store: { port: 0 } }
`,
  'work/wanting.yaml': 'state: redis://127.0.0.1:9/0\n',
};

function call(line: string, home: 'none' | 'closed' | 'foreign', stdin = '') {
  const root = homeWith(files);
  for (const path of [root, join(root, 'work')]) chmodSync(path, 0o755);
  for (const name of Object.keys(files)) chownSync(join(root, name), nobody.uid, nobody.gid);
  const own = join(root, 'home');
  const state = join(own, '.local', 'state', 'gateway');
  if (home !== 'none') mkdirSync(own, { mode: 0o500 });
  if (home !== 'none') chownSync(own, nobody.uid, nobody.gid);
  // Readable for everybody: whoever it belongs to may have left an address there.
  if (home === 'foreign') mkdirSync(state, { recursive: true, mode: 0o755 });
  if (home === 'foreign') writeFileSync(join(state, 'ledger.sqlite'), '');
  if (home === 'foreign') chownSync(dirname(state), nobody.uid, nobody.gid);
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...line.split(' ')], {
    ...nobody,
    cwd: join(root, 'work'),
    env: { PATH: process.env.PATH, ...(home === 'none' ? {} : { HOME: own }) },
    input: stdin,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  return { exit: status, stdout, stderr };
}

const unusable = /state directory .* can't be used \(EACCES\); set XDG_STATE_HOME/;
const foreign = /belongs to another user.*; set XDG_STATE_HOME/;
const refusal = (words: RegExp) => ({ exit: 2, stderr: expect.stringMatching(words) });

describe.skipIf(!canBeNobody)('the state directory', () => {
  test.each([
    ['serve', ''],
    ['send hello --in trip', ''],
    ['trust --no-input wanting.yaml', ''],
    ['plants serve -p 0', ''],
    ['plants user add ivy --password-stdin', 'correct horse battery\n'],
  ])('must be writable for gateway %s', (line, stdin) => {
    expect(call(line, 'none', stdin)).toMatchObject(refusal(unusable));
    expect(call(line, 'closed', stdin)).toMatchObject(refusal(unusable));
    expect(call(line, 'foreign', stdin)).toMatchObject(refusal(foreign));
  });

  test.each([
    ['status', 8],
    ['open --no-browser', 8],
    ['stop', 8],
    ['logs --conversations', 0],
    ['logs show req_1', 5],
    ['logs search fern', 0],
    ['logs rm --all', 0],
    ['usage', 0],
    ['key show', 5],
    ['plants logout', 0],
    ['logout', 0],
  ])('may be missing for gateway %s, which ends with %i, but not be another user’s', (line, exit) => {
    expect(call(line, 'none')).toMatchObject({ exit });
    expect(call(line, 'foreign')).toMatchObject(refusal(foreign));
  });

  test.each([
    ['none', 'XDG_STATE_HOME'],
    ['closed', 'XDG_STATE_HOME'],
    ['foreign', 'belongs to another user'],
  ] as const)('is among what doctor finds: %s', (home, words) => {
    const { exit, stdout } = call('doctor', home);

    expect(exit).toBe(1);
    expect(stdout).toMatch(new RegExp(`^error\\tstate directory\\t.*${words}`, 'm'));
  });
});
