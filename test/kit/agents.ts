import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { bin } from './build.ts';
import { secrets } from './gateway.ts';

/** An agent, and what it is started with. */
export interface Agent {
  readonly title: string;
  args(prompt: string): readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The tool that reads a file, and its input. */
  readonly tool: string;
  inputFor(file: string): object;
}

export const agents: Readonly<Record<string, Agent>> = {
  claude: {
    title: 'Claude Code',
    args: (prompt) => ['-p', '--allowedTools', 'Read', '--', prompt],
    env: { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' },
    tool: 'Read',
    inputFor: (file) => ({ file_path: file }),
  },
  codex: {
    title: 'Codex',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    tool: 'exec_command',
    inputFor: (file) => ({ cmd: `cat ${file}` }),
  },
  opencode: {
    title: 'opencode',
    args: (prompt) => ['run', prompt],
    tool: 'read',
    inputFor: (file) => ({ filePath: file }),
  },
  gemini: {
    title: 'Gemini CLI',
    args: (prompt) => ['--yolo', '-p', prompt],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    tool: 'read_file',
    inputFor: (file) => ({ file_path: file, absolute_path: file }),
  },
  copilot: {
    title: 'Copilot CLI',
    args: (prompt) => ['--allow-all-tools', '--allow-all-paths', '-p', prompt],
    tool: 'view',
    inputFor: (file) => ({ path: file, view_range: [1, 300] }),
  },
  qwen: {
    title: 'Qwen Code',
    args: (prompt) => ['--approval-mode', 'yolo', prompt],
    tool: 'read_file',
    inputFor: (file) => ({ file_path: file, absolute_path: file }),
  },
};

interface Run {
  /** Where the program is. */
  readonly folder: string;
  readonly name: string;
  /** An empty home of its own. */
  readonly home: string;
  readonly cwd: string;
  /** Of the gateway. */
  readonly url: string;
  readonly model: string;
  readonly prompt: string;
  readonly timeoutMs?: number;
}

/** Starts an agent by `gateway run`, and returns its exit code and what it printed. */
export function runAgent({ folder, name, home, cwd, url, model, prompt, timeoutMs = 150_000 }: Run) {
  const { args, env = {} } = agents[name] as Agent;
  const options = {
    cwd,
    timeout: timeoutMs,
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: home,
      XDG_STATE_HOME: join(home, '.state'),
      GATEWAY_URL: url,
      GATEWAY_KEY: secrets.PROJECT_KEY,
      ...env,
    },
  };
  return new Promise<{ readonly exit: unknown; readonly said: string }>((resolve) => {
    const argv = [bin, 'run', '-m', model, name, ...args(prompt)];
    const child = execFile(process.execPath, argv, options, (error, stdout, stderr) =>
      resolve({ exit: error === null ? 0 : (error.code ?? error.signal), said: `${stdout}\n${stderr}` }),
    );
    child.stdin?.end();
  });
}
