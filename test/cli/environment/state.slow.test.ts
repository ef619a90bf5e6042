import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin } from '../../kit/build.ts';
import { calls, type Invocation } from './invocations.ts';
import { type Ended, expectDecent, runCall } from './run-call.ts';
import { type Person, useSandbox } from './workspace.ts';

// Commands that use the state directory, and some that don't, as a user without a home; those that write to it with a home
// that can't be written, and all that use it with another user's.

/** In no /etc/passwd, as a container's numeric user. */
const nobody: Person = { uid: 54_321, gid: 54_321 };
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, [bin, '--version'], nobody).status === 0;

const placeOf = useSandbox();

async function callAs(call: Invocation, home: 'none' | 'closed' | 'foreign') {
  const place = placeOf(call, nobody);
  if (home !== 'none') mkdirSync(place.home, { mode: 0o500 });
  if (home !== 'none') chownSync(place.home, nobody.uid, nobody.gid);
  const state = join(place.home, '.local', 'state', 'gateway');
  // Readable for everybody: whoever it belongs to may have left an address there.
  if (home === 'foreign') mkdirSync(state, { recursive: true, mode: 0o755 });
  if (home === 'foreign') writeFileSync(join(state, 'ledger.sqlite'), '');
  if (home === 'foreign') chownSync(dirname(state), nobody.uid, nobody.gid);
  const env = home === 'none' ? place.env : { ...place.env, HOME: place.home };
  const ended = await runCall(call, place, { env, user: nobody });
  expectDecent(ended);
  return { ...ended, state };
}

/** What doctor says of the state directory. */
function expectFinding({ exit, stdout }: Ended, words: string): void {
  expect([exit, stdout]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^error\\tstate directory\\t.*${words}`, 'm')),
  ]);
}

const others = ['doctor', 'run', 'models', 'config show', 'plants search'];
const chosen = calls.filter(
  ([name, { needsState, readsState }]) => needsState || readsState || others.includes(name),
);

describe.skipIf(!canBeNobody).each(chosen)('gateway %s', (name, call) => {
  const { exit = 0, needsState, readsState } = call;

  test('without HOME', async () => {
    const ended = await callAs(call, 'none');

    if (needsState) {
      expect([ended.exit, ended.stderr]).toEqual([
        2,
        expect.stringMatching(/can't be used \(EACCES\); set XDG_STATE_HOME/),
      ]);
    } else if (name === 'doctor') expectFinding(ended, 'XDG_STATE_HOME');
    else expect(ended).toMatchObject({ exit });
  });

  test.runIf(needsState || name === 'doctor')('with a home that can only be read', async () => {
    const ended = await callAs(call, 'closed');

    if (name === 'doctor') expectFinding(ended, 'XDG_STATE_HOME');
    else
      expect([ended.exit, ended.stderr]).toEqual([
        2,
        expect.stringContaining(`${ended.state} can't be used (EACCES); set XDG_STATE_HOME`),
      ]);
  });

  test.runIf(needsState || readsState || name === 'doctor')(
    "with another user's state directory",
    async () => {
      const ended = await callAs(call, 'foreign');

      if (name === 'doctor') expectFinding(ended, 'belongs to another user');
      else
        expect([ended.exit, ended.stderr]).toEqual([
          2,
          expect.stringMatching(/belongs to another user.*; set XDG_STATE_HOME/),
        ]);
    },
  );
});
