import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { calls, type Invocation } from './invocations.ts';
import { expectDecent, runCall } from './run-call.ts';
import { useSandbox } from './workspace.ts';

// Every command with a standard input that is closed, and those that read it with one that is empty or no text.

const placeOf = useSandbox();

async function callWith(call: Invocation, stdin: Buffer | 'closed') {
  const place = placeOf(call);
  mkdirSync(place.home);
  const ended = await runCall(call, place, { env: { ...place.env, HOME: place.home }, stdin });
  expectDecent(ended);
  return ended;
}

const binary = Buffer.from('\xff\xfe\x00\x80 no text \xc3\x28\n'.repeat(500), 'latin1');
/** What needs its input, and what makes do without. */
const needsInput = calls.filter(([name, { stdin }]) => stdin !== undefined && name !== 'chat');
const readsText = ['send', 'chat', 'embed', ...needsInput.map(([name]) => name)];

describe.each(calls)('gateway %s', (name, call) => {
  const { exit = 0 } = call;
  const isNeeded = needsInput.some(([other]) => other === name);

  test('with a closed standard input', async () => {
    const ended = await callWith(call, 'closed');

    expect(ended.exit).toBe(isNeeded ? 2 : exit);
    if (isNeeded) expect(ended.stderr).toContain('standard input');
  });

  test.runIf(readsText.includes(name))('with a standard input that is no text', async () => {
    const ended = await callWith(call, binary);

    expect([ended.exit, ended.stdout, ended.stderr]).toEqual([
      2,
      '',
      expect.stringContaining('standard input'),
    ]);
  });
});

test.each(needsInput)('gateway %s with an empty standard input', async (_name, call) => {
  const ended = await callWith(call, Buffer.alloc(0));

  expect([ended.exit, ended.stdout, ended.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('standard input'),
  ]);
});
