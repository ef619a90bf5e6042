import { mkdirSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildWholeProgram } from '../../../src/cli/program.ts';
import type { Io } from '../../../src/cli/shell/io.ts';
import { calls, type Invocation } from './invocations.ts';
import { expectDecent, runCall } from './run-call.ts';
import { useSandbox } from './workspace.ts';

// Commands that read standard input with one that is closed, empty or no text; and some others with a closed one.

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

const opensFiles = ['serve', 'plants serve', 'run', 'logs', 'config show'];
const chosen = calls.filter(([name]) => readsText.includes(name) || opensFiles.includes(name));

describe.each(chosen)('gateway %s', (name, call) => {
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

test('there is a call of each command', async () => {
  const leavesOf = (command: Command, path: readonly string[] = []): readonly string[] => [
    ...(path.length === 0 ? [] : [path.join(' ')]),
    ...command.commands.flatMap((child) => leavesOf(child, [...path, child.name()])),
  ];
  const program = await buildWholeProgram({ env: {}, cwd: '/' } as Io); // nothing of it is used to build

  expect(calls.map(([name]) => name).sort()).toEqual([...leavesOf(program)].sort());
});

test.each(needsInput)('gateway %s with an empty standard input', async (_name, call) => {
  const ended = await callWith(call, Buffer.alloc(0));

  expect([ended.exit, ended.stdout, ended.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('standard input'),
  ]);
});
