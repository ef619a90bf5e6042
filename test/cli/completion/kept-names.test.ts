import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';

const file = (project: string) =>
  `projects: { ${project}: { keys: [{ id: ${project}-web, hash: "sha256:${'0'.repeat(64)}" }] } }\n`;

/** A directory of a project, with one below it, and a state directory of its own. */
function machine() {
  const cwd = emptyDirectory();
  const below = join(cwd, 'below');
  mkdirSync(below);
  const state = emptyDirectory();
  const write = (directory: string, project: string, name = 'gateway.yaml') =>
    writeFileSync(join(directory, name), file(project), { mode: 0o600 });
  const keys = async (at: string, ...options: readonly string[]) => {
    const words = ['__complete', ...options, 'key', 'revoke', ''];
    const { stdout } = await command(words, { cwd: at, env: { XDG_STATE_HOME: state } });
    return stdout
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split('\t')[0]);
  };
  return { cwd, below, write, keys, kept: join(state, 'gateway', 'completion.json') };
}

describe('names in a configuration are kept', () => {
  test('and found again without reading it', async () => {
    const { cwd, write, keys, kept } = machine();
    write(cwd, 'shop');
    expect(await keys(cwd)).toEqual(['shop-web']);

    const content = JSON.parse(readFileSync(kept, 'utf8'));
    content.names.keys = ['from-the-kept-file'];
    writeFileSync(kept, JSON.stringify(content));

    expect(await keys(cwd)).toEqual(['from-the-kept-file']);
  });

  test('until the file changes', async () => {
    const { cwd, write, keys } = machine();
    write(cwd, 'shop');
    await keys(cwd);

    write(cwd, 'club');

    expect(await keys(cwd)).toEqual(['club-web']);
  });

  test('until a nearer file appears, or another is named', async () => {
    const { cwd, below, write, keys } = machine();
    write(cwd, 'shop');
    expect(await keys(below)).toEqual(['shop-web']);

    write(below, 'club');
    expect(await keys(below)).toEqual(['club-web']);

    write(cwd, 'other', 'other.yaml');
    expect(await keys(below, '-c', '../other.yaml')).toEqual(['other-web']);
    expect(await keys(below)).toEqual(['club-web']);
  });

  test('and a damaged or missing file of them changes nothing', async () => {
    const { cwd, write, keys, kept } = machine();
    write(cwd, 'shop');
    await keys(cwd);
    writeFileSync(kept, '{"stamp":');

    expect(await keys(cwd)).toEqual(['shop-web']);
  });

  test('nothing is written where there is no configuration', async () => {
    const { cwd, keys, kept } = machine();

    expect(await keys(cwd)).toEqual([]);
    expect(existsSync(kept)).toBe(false);
  });
});
