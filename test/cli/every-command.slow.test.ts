import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildWholeProgram } from '../../src/cli/program.ts';
import type { Io } from '../../src/cli/shell/io.ts';
import { bin } from '../kit/build.ts';
import { emptyDirectory } from '../kit/command.ts';
import { invocations } from './environment/invocations.ts';

// What commands do with an output that can't be written: one way for all, tried on some of them.

const program = await buildWholeProgram({ env: {}, cwd: '/' } as Io); // nothing of it is used to build
const leaves = leavesOf(program, []);

function leavesOf(command: Command, path: readonly string[]): readonly (readonly string[])[] {
  const below = command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
  return path.length === 0 ? below : [path, ...below];
}

/** In a shell, so that stdout can be what it says. */
function run(words: readonly string[], redirection: string) {
  const home = emptyDirectory();
  const script = `exec "$0" "$@" ${redirection}`;
  return spawnSync('sh', ['-c', script, process.execPath, bin, ...words], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: 'utf8',
    timeout: 15_000,
  });
}

test('there is a call of each for the tests of its environment', () => {
  expect(Object.keys(invocations).sort()).toEqual(leaves.map((path) => path.join(' ')).sort());
});

describe.each(['send', 'config schema', 'plants user add'])('gateway %s --help', (words) => {
  const path = words.split(' ');

  test('fails with a message if the disk is full', () => {
    const { status, stderr } = run([...path, '--help'], '> /dev/full');

    expect([status, stderr]).toEqual([1, expect.stringMatching(/^gateway: [^\n]*ENOSPC[^\n]*\n$/)]);
  });

  test('ends quietly if nobody reads', () => {
    const { status, stderr } = run([...path, '--help'], '| true');

    expect([status, stderr]).toEqual([0, '']);
  });
});
