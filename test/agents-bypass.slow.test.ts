import { execFile } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../src/cli/agents/clients.ts';
import { checkClaude } from '../src/cli/doctor/check-claude.ts';
import { messagesEvents } from './kit/answers.ts';
import { type Script, startHost } from './kit/host.ts';
import { type Files, homeWith } from './kit/own-configuration.ts';

// Settings files of Claude Code that lead it to another host although the variables of `gateway run` are set: each that
// does must be one that `run` refuses. AGENTS_BIN as in agents-contract.slow.test.ts.

const programs = (process.env.AGENTS_BIN?.split(':') ?? [])
  .map((folder) => join(folder, 'claude'))
  .filter((program) => existsSync(program));

const answer: Script = (response) => {
  response.setHeader('content-type', 'text/event-stream');
  return response.end(messagesEvents.join(''));
};
const here = await startHost(answer);
const away = await startHost(answer);

const address = { ANTHROPIC_BASE_URL: away.url };
const aws = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y', AWS_REGION: 'us-east-1' };
const bedrock = { CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_BEDROCK_BASE_URL: away.url, ...aws };
const google = {
  CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD: '1',
  CLAUDE_CODE_SKIP_ANTHROPIC_GOOGLE_CLOUD_AUTH: '1',
  ANTHROPIC_GOOGLE_CLOUD_BASE_URL: away.url,
  ANTHROPIC_GOOGLE_CLOUD_PROJECT_ID: 'p',
  ANTHROPIC_GOOGLE_CLOUD_LOCATION: 'us',
  ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID: 'w',
};
const others = {
  ANTHROPIC_API_HOST: away.url,
  CLAUDE_CODE_API_BASE_URL: away.url,
  CLAUDE_CODE_GB_BASE_URL: away.url,
  CLAUDE_CODE_HTTPS_PROXY: away.url,
};
const worktree = {
  'repo/.git': 'gitdir: ../main/.git/worktrees/repo\n',
  'main/.git/HEAD': 'ref: refs/heads/main\n',
  'main/.git/worktrees/repo/commondir': '../..\n',
  'main/.git/worktrees/repo/gitdir': '../../../../repo/.git\n',
  'main/.git/worktrees/repo/HEAD': 'ref: refs/heads/repo\n',
};

interface Case {
  readonly what: string;
  readonly file: string;
  readonly env?: object;
  readonly files?: Files;
  readonly cwd?: string;
}

const cases: readonly Case[] = [
  { what: 'an address', file: 'repo/.claude/settings.json' },
  { what: 'Bedrock', file: 'repo/.claude/settings.json', env: bedrock },
  { what: 'a cloud of Google', file: 'repo/.claude/settings.json', env: google },
  { what: 'other addresses', file: 'repo/.claude/settings.json', env: others },
  { what: 'a file of its own', file: 'home/.claude.json' },
  { what: 'its older name', file: 'home/.claude/.config.json' },
  { what: "the user's settings", file: 'home/.claude/settings.json' },
  { what: 'local ones in their folder', file: 'home/.claude/settings.local.json' },
  { what: 'local settings', file: 'repo/.claude/settings.local.json' },
  { what: 'settings above', file: 'repo/.claude/settings.json', cwd: 'repo/sub' },
  { what: 'local settings above', file: 'repo/.claude/settings.local.json', cwd: 'repo/sub' },
  { what: 'local settings above a link', file: 'repo/.claude/settings.local.json', cwd: 'link' },
  { what: 'those of a main checkout', file: 'main/.claude/settings.local.json', files: worktree },
];

describe.skipIf(programs.length === 0).each(programs.length === 0 ? ['claude'] : programs)(
  '%s',
  (program) => {
    const ledAway: string[] = [];

    test.each(cases)('$what: $file', async ({ file, env: set = address, files = {}, cwd: from = 'repo' }) => {
      const git = 'repo/.git' in files ? {} : { 'repo/.git/HEAD': 'ref: refs/heads/main\n' };
      const root = homeWith({ ...git, 'repo/sub/a': '', 'home/a': '', ...files, [file]: { env: set } });
      symlinkSync(join(root, 'repo/sub'), join(root, 'link'));
      const { variables } = clientOf('claude').settings({ url: here.url, key: 'gw_key', models: {} });
      const io = { env: { HOME: join(root, 'home') }, cwd: join(root, from) };
      const before = away.requests.length;

      await start(program, {
        ...io,
        env: { ...io.env, PATH: process.env.PATH ?? '', CI: '1', ...variables },
      });

      const isAway = away.requests.length > before;
      if (isAway) ledAway.push(file);
      const isRefused = checkClaude(io, here.url).some(({ status }) => status === 'error');
      expect(isAway && !isRefused).toBe(false);
    });

    test('some of these do lead it away, and without them it asks the host that it is told', () => {
      expect(ledAway).toContain('repo/.claude/settings.json');
      expect(here.requests.some(({ method }) => method === 'POST')).toBe(true);
    });
  },
);

/** Resolves when it has ended, whatever its exit code; at the latest after 30 s, since some repeat for long. */
function start(
  program: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<void> {
  return new Promise((resolve) => {
    const child = execFile(program, ['-p', 'hello'], { env, cwd, timeout: 30_000 }, () => resolve());
    child.stdin?.end();
  });
}
