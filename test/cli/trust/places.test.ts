// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, homeWith, withoutStore } from '../../kit/command.ts';

// Where a file lies, and how one gets there: each layout with what a command finds in it.

const harmless = withoutStore;
const wanting = (host: string) => `providers: { p: { dialect: openai, base_url: "http://${host}/\${TOKEN}" } }
models: [{ match: "*", provider: p }]
${harmless}`;
const other = 1_234;

interface Layout {
  readonly files: Readonly<Record<string, string>>;
  /** From a name to what it leads to. */
  readonly links?: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Files that belong to somebody else, who asked for the command with sudo. */
  readonly foreign?: readonly string[];
  /** The file that was allowed before, and what was changed since. */
  readonly trusts?: string;
  readonly change?: (root: string) => void;
  /** Whose wants are shown, by their host; nobody's if the command succeeds. */
  readonly asks?: string;
  /** In place of that: what the error says. */
  readonly refuses?: string;
}

const repository = (folder: string, host: string) => ({
  [`${folder}/.git/HEAD`]: '',
  [`${folder}/gateway.yaml`]: wanting(host),
});

const layouts: Readonly<Record<string, Layout>> = {
  'of two nested repositories the inner one counts': {
    files: { ...repository('outer', '10.0.0.1'), ...repository('outer/inner', '10.0.0.2') },
    cwd: 'outer/inner/src',
    asks: '10.0.0.2',
  },
  'an inner repository without a file does not get that of the outer one': {
    files: { ...repository('outer', '10.0.0.1'), 'outer/inner/.git/HEAD': '' },
    cwd: 'outer/inner',
  },
  'a package of a workspace gets that of the repository around it, and is asked': {
    files: { ...repository('outer', '10.0.0.1'), 'outer/packages/inner/package.json': '{}' },
    cwd: 'outer/packages/inner/src',
    asks: '10.0.0.1',
  },
  'what the outer one was allowed, the same file inside is not': {
    files: { ...repository('outer', '10.0.0.1'), ...repository('outer/inner', '10.0.0.1') },
    trusts: 'outer/gateway.yaml',
    cwd: 'outer/inner',
    asks: '10.0.0.1',
  },
  'a home that is a repository': {
    files: repository('home', '10.0.0.3'),
    cwd: 'home/work',
    asks: '10.0.0.3',
  },
  'a home that is a repository, with a file beside the directory of configurations': {
    files: { 'home/.git/HEAD': '', 'home/.config/gateway.yaml': wanting('10.0.0.3') },
    cwd: 'home',
    asks: '10.0.0.3',
  },
  "the user's own file, also from the directory where it lies": {
    files: { 'home/.config/gateway/gateway.yaml': wanting('10.0.0.4') },
    cwd: 'home/.config/gateway',
  },
  'a link to a repository': {
    files: repository('repository', '10.0.0.5'),
    links: { linked: 'repository' },
    cwd: 'linked',
    asks: '10.0.0.5',
  },
  'a link to a repository that was allowed by its own name': {
    files: repository('repository', '10.0.0.5'),
    links: { linked: 'repository' },
    trusts: 'repository/gateway.yaml',
    cwd: 'linked',
  },
  'a link that led to what was allowed, and now leads elsewhere': {
    files: {
      'repository/.git/HEAD': '',
      'old/gateway.yaml': wanting('10.0.0.6'),
      'new/gateway.yaml': wanting('10.0.0.6'),
    },
    links: { 'repository/gateway.yaml': '../old/gateway.yaml' },
    trusts: 'repository/gateway.yaml',
    change: (root) => {
      rmSync(join(root, 'repository/gateway.yaml'));
      symlinkSync('../new/gateway.yaml', join(root, 'repository/gateway.yaml'));
    },
    cwd: 'repository',
    asks: '10.0.0.6',
  },
  'another repository at the place of one that was allowed, with a want of its own': {
    files: { ...repository('repository', '10.0.0.7'), ...repository('next', '10.0.0.8') },
    trusts: 'repository/gateway.yaml',
    change: (root) => {
      rmSync(join(root, 'repository'), { recursive: true });
      renameSync(join(root, 'next'), join(root, 'repository'));
    },
    cwd: 'repository',
    asks: '10.0.0.8',
  },
  'sudo: a file that belongs to the user who asked': {
    files: repository('repository', '10.0.0.10'),
    foreign: ['repository/gateway.yaml'],
    cwd: 'repository',
    refuses: 'belongs to another user',
  },
  'sudo with the home of the user who asked: it is not her file of configurations either': {
    files: { 'home/.config/gateway/gateway.yaml': wanting('10.0.0.11') },
    foreign: ['home', 'home/.config/gateway/gateway.yaml'],
    cwd: 'empty',
    refuses: 'belongs to another user',
  },
};

const isRoot = process.geteuid?.() === 0;

test.each(Object.entries(layouts))('%s', async (_name, layout) => {
  // Only root can make files of somebody else.
  if (layout.foreign !== undefined && !isRoot) return;
  const root = homeWith({ 'home/.bashrc': '', ...layout.files });
  for (const [name, target] of Object.entries(layout.links ?? {})) symlinkSync(target, join(root, name));
  const env = { HOME: join(root, 'home'), XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', TOKEN: 'of-the-user' };
  if (layout.trusts !== undefined) {
    const trusted = await command(['trust', join(root, layout.trusts)], { cwd: root, env });
    expect(trusted.exit, trusted.stderr).toBe(0);
  }
  layout.change?.(root);
  mkdirSync(join(root, layout.cwd), { recursive: true });
  for (const name of layout.foreign ?? []) chownSync(join(root, name), other, other);

  const { exit, stderr } = await command(['serve', '--dry-run'], {
    cwd: join(root, layout.cwd),
    env: {
      ...env,
      ...(layout.foreign && { SUDO_UID: String(other), SUDO_GID: String(other), SUDO_USER: 'rosa' }),
    },
  });

  const said = layout.refuses ?? (layout.asks === undefined ? '' : `TOKEN goes to http://${layout.asks}/`);
  expect([exit, stderr]).toEqual([said === '' ? 0 : 2, expect.stringContaining(said)]);
});
