import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { letters, replying, type Said } from '../../gateway/masking/saying.ts';
import { startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';

// The real Claude Code and Codex at a scripted host. They are no dependency: AGENTS_BIN is a directory with `claude` and
// `codex`, such as node_modules/.bin after npm install @anthropic-ai/claude-code @openai/codex.
const bin = process.env.AGENTS_BIN;

const env = `# settings of the shop
APP_NAME=shop
DATABASE_URL=postgres://app:Zk8sW1qLr5tY@db.internal:5432/shop
JWT_SECRET=x9Kq2mWv8LpR4tYzB7nD
STRIPE_SECRET_KEY=sk_live_4eC39HqLyjWDarjtT1zdp7dc
SMTP_PASSWORD='q$7w&pL2!vX9z'
SESSION_SECRET="3f8a1c5e7b9d2046a8c1e3f5079b2d4f"
GITHUB_TOKEN=ghp_a8Kd92mfLq0sXz71Bv6tNc4RyW3uEj1F03sb
PORT=3000
`;
const hidden = env.match(/(?<=[=:'"])[^\s'"=@/]{12,}(?=['"@\n])/g) ?? [];

/** What the model makes of what it read, in whatever form it sees the values. */
const secretIn = (seen: string) => /JWT_SECRET=(\w+)/.exec(seen)?.[1] ?? 'unread';
const editOf = (seen: string) => ({
  old_string: `JWT_SECRET=${secretIn(seen)}`,
  new_string: `JWT_SECRET=${secretIn(seen)}\nJWT_SECRET_OLD=${secretIn(seen)}`,
});
const digestOf = (seen: string) => `printf %s '${secretIn(seen)}' | sha256sum > digest.txt`;
const patchOf = (seen: string) => {
  const { old_string, new_string } = editOf(seen);
  const added = new_string.split('\n').map((line) => `+${line}`);
  return ['*** Begin Patch', '*** Update File: .env', '@@', `-${old_string}`, ...added, '*** End Patch'];
};

type Step = (seen: string, folder: string) => Pick<Said, 'name' | 'input' | 'isCustom'>;
const calling =
  (name: string, input: (seen: string, folder: string) => object): Step =>
  (seen, folder) => ({ name, input: JSON.stringify(input(seen, folder)) });
/** Codex' models write a program, which is no JSON. */
const program =
  (cmd: (seen: string) => string): Step =>
  (seen) => ({
    name: 'exec',
    isCustom: true,
    input: `const done = await tools.exec_command({ cmd: String.raw\`${cmd(seen)}\` });\ntext(done.output);`,
  });

const agents: Readonly<
  Record<string, { readonly argv: readonly string[]; readonly steps: readonly Step[] }>
> = {
  'Claude Code': {
    argv: ['claude', '-p', 'go on', '--allowedTools', 'Read,Edit,Bash'],
    steps: [
      calling('Read', (_, folder) => ({ file_path: join(folder, '.env') })),
      calling('Edit', (seen, folder) => ({ file_path: join(folder, '.env'), ...editOf(seen) })),
      calling('Bash', (seen) => ({ command: digestOf(seen), description: 'digest' })),
    ],
  },
  Codex: {
    argv: ['codex', 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'go on'],
    steps: [
      program(() => 'cat .env'),
      program((seen) => `apply_patch <<'END'\n${patchOf(seen).join('\n')}\nEND`),
      program(digestOf),
    ],
  },
};

let host: ScriptedHost;
beforeAll(async () => {
  host = await startHost(() => undefined);
});
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

interface Turn {
  readonly messages?: readonly object[];
  readonly input?: readonly object[];
}
/** What a turn holds, without the marks of what to cache, which agents move on. */
const contentOf = (turn: Turn) =>
  (turn.messages ?? turn.input ?? []).map((message) =>
    JSON.stringify(message).replaceAll(/,"cache_control":\{[^}]*\}/g, ''),
  );

describe.skipIf(bin === undefined).each(Object.entries(agents))('%s', (_name, { argv, steps }) => {
  test('edits files of secrets that never leave', { timeout: 120_000 }, async () => {
    const home = emptyDirectory();
    writeFileSync(join(home, '.env'), env);
    writeFileSync(
      join(home, 'gateway.yaml'),
      `
providers:
  anthropic: { dialect: anthropic, base_url: "${host.url}", api_key: "\${KEYED}", endpoints: [messages] }
  openai: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${KEYED}", endpoints: [chat, responses] }
models: [{ match: "claude-*", provider: anthropic }, { match: "*", provider: openai }]
policies:
  house: { apply: all, rules: [{ id: secrets, action: mask, when: { text: { detect: [{ secrets: possible }] } } }] }
`,
      { mode: 0o600 },
    );
    const turns: Turn[] = [];
    const before = host.requests.length;
    const say = replying((body) => {
      const turn = JSON.parse(body.toString()) as Turn & { tools?: unknown };
      const hasTools = turn.tools !== undefined || body.includes('"additional_tools"');
      if (!hasTools) return { text: 'a title' };
      turns.push(turn);
      const step = steps[turns.length - 1];
      const seen = textsIn(turn).join('\n');
      const id = `call_${turns.length}`;
      return step === undefined
        ? { text: `done with ${secretIn(seen)}` }
        : { text: 'next', id, ...step(seen, home) };
    }, letters);
    host.script((response, request) =>
      request.method === 'POST' ? say(response, request) : response.writeHead(404).end('{}'),
    );
    const child = startProgram(['run', ...argv], home, {
      PATH: `${bin}:${process.env.PATH}`,
      KEYED: 'sk-keyed-0123456789abcdef',
    });
    child.process.stdin?.end();

    const { exit, stdout, stderr } = await child.ended;

    expect([exit, stdout], stderr).toEqual([0, expect.stringContaining('done with x9Kq2mWv8LpR4tYzB7nD')]);
    expect(turns.length).toBe(steps.length + 1);
    expect(readFileSync(join(home, '.env'), 'utf8')).toBe(
      env.replace(/JWT_SECRET=(\w+)/, 'JWT_SECRET=$1\nJWT_SECRET_OLD=$1'),
    );
    expect(readFileSync(join(home, 'digest.txt'), 'utf8').slice(0, 64)).toBe(
      createHash('sha256').update('x9Kq2mWv8LpR4tYzB7nD').digest('hex'),
    );
    const received = host.requests.slice(before).map(({ body }) => body.toString());
    expect(hidden).toHaveLength(6);
    for (const value of hidden) {
      expect(
        received.filter((body) => body.includes(JSON.stringify(value).slice(1, -1)) || body.includes(value)),
      ).toEqual([]);
    }
    for (const [at, turn] of turns.slice(1).entries()) {
      const earlier = contentOf(turns[at] ?? {});
      expect(contentOf(turn).slice(0, earlier.length)).toEqual(earlier);
    }
  });
});
