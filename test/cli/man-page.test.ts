import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderManPage } from '../../scripts/man-page.ts';
import { buildWholeProgram } from '../../src/cli/program.ts';
import type { Io } from '../../src/cli/shell/io.ts';
import { exitCodes } from '../../src/errors.ts';

const root = join(import.meta.dirname, '..', '..');
const file = join(root, 'man', 'gateway.1');
const page = renderManPage(await buildWholeProgram({} as Io)); // building a command touches none of it

test('the man page is what the commands say', async () => {
  await expect(page).toMatchFileSnapshot(file);
});

test('the package has it', () => {
  const { man, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  expect(man).toEqual(['man/gateway.1']);
  expect(files).toContain('man');
});

test('it has every exit code', () => {
  for (const code of Object.values(exitCodes))
    expect(page).toMatch(new RegExp(`^\\.B (?:\\d+, )?${code}(?:,.*)?$`, 'm'));
});

test('it has every variable of the environment that docs/command-line.md names', () => {
  const guide = readFileSync(join(root, 'docs', 'command-line.md'), 'utf8');
  const named = [...new Set(guide.match(/\b(?:GATEWAY|PLANTS)_[A-Z]+\b/g))];
  const environment = page.slice(page.indexOf('.SH ENVIRONMENT'), page.indexOf('.SH FILES'));

  expect(named).toContain('GATEWAY_HISTORY');
  expect(named.filter((name) => !environment.includes(name))).toEqual([]);
});

describe.skipIf(spawnSync('mandoc', ['--help']).error !== undefined)('mandoc', () => {
  const mandoc = (...argv: string[]) => spawnSync('mandoc', argv, { input: page, encoding: 'utf8' });

  test('has nothing to say about it', () => {
    const { stdout, status } = mandoc('-T', 'lint', '-W', 'warning');

    expect([stdout, status]).toEqual(['', 0]);
  });
});
