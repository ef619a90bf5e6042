import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf, type Said } from '../gateway/masking/saying.ts';
import { chunkFrame } from '../kit/amazon-stream.ts';
import { startProgram } from '../kit/child.ts';
import { type CloudHost, startClouds } from '../kit/cloud-host.ts';
import { emptyDirectory } from '../kit/command.ts';

// The real Claude Code and Codex through the gateway at scripted clouds that the vendors' clients accept
// (clients.slow.test.ts). AGENTS_BIN is a directory with `claude` and `codex`; the packages of this folder must be there too.
const bin = process.env.AGENTS_BIN;
const modules = join(import.meta.dirname, 'node_modules');

const shell = 'printf ran > out.txt';
const agents = {
  claude: {
    argv: ['claude', '-p'],
    options: ['--allowedTools', 'Bash'],
    call: { name: 'Bash', input: JSON.stringify({ command: shell, description: 'write' }) },
  },
  codex: {
    argv: ['-m', 'gpt-5.1-codex', 'codex', 'exec', '--skip-git-repo-check'],
    options: ['--dangerously-bypass-approvals-and-sandbox'],
    call: { name: 'exec_command', input: JSON.stringify({ cmd: shell }) },
  },
} as const;

const clouds = [
  ['claude', 'bedrock', 'dialect: bedrock, base_url: "URL", credentials: aws, region: us-east-1'],
  [
    'claude',
    'vertex',
    'dialect: vertex, base_url: "URL/v1/projects/p/locations/us-east5", credentials: google',
  ],
  ['claude', 'foundry', 'dialect: anthropic, base_url: "URL/anthropic", credentials: azure'],
  [
    'codex',
    'azure',
    'dialect: openai, base_url: "URL/openai/v1", credentials: azure, endpoints: [chat, responses]',
  ],
] as const;

describe.skipIf(bin === undefined || !existsSync(modules)).each(clouds)(
  '%s at %s',
  (agent, name, provider) => {
    let cloud: CloudHost;
    beforeAll(async () => {
      cloud = await startClouds();
    });
    afterAll(() => cloud.close());

    /** Runs the agent with a prompt; `say` answers its conversation, and not what else it asks. */
    async function run(prompt: string, say: (turn: number, body: Buffer) => Said) {
      const home = emptyDirectory();
      writeFileSync(join(home, 'subject-token'), 'subject-token-0123456789');
      writeFileSync(join(home, 'workload.json'), cloud.workload(join(home, 'subject-token')), {
        mode: 0o600,
      });
      writeFileSync(
        join(home, 'gateway.yaml'),
        `
providers:
  ${name}: { ${provider.replace('URL', cloud.url)} }
models: [{ match: "*", provider: ${name}, model: model-at-${name} }]
policies:
  house:
    apply: all
    rules: [{ id: codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }]
`,
        { mode: 0o600 },
      );
      let turns = 0;
      cloud.state.say = (body) => {
        const hasTools = /"tools":\[\{/.test(body.toString());
        if (!hasTools) return { text: 'a title' };
        turns += 1;
        return say(turns, body);
      };
      const { argv, options } = agents[agent];
      const child = startProgram(['run', '-c', 'gateway.yaml', ...argv, prompt, ...options], home, {
        ...cloud.env(join(home, 'workload.json')),
        PATH: `${bin}:${process.env.PATH}`,
        NODE_PATH: modules,
      });
      child.process.stdin?.end();
      return { ...(await child.ended), home, turns };
    }

    test('plain', { timeout: 120_000 }, async () => {
      const { exit, stdout, stderr } = await run('go on', () => ({ text: 'Water it.' }));

      expect([exit, stdout], stderr).toEqual([0, expect.stringContaining('Water it.')]);
      const { target } = cloud.calls.at(-1) ?? { target: '' };
      const inPath = { bedrock: '/model/model-at-bedrock/', vertex: '/models/model-at-vertex:' };
      expect(target).toContain(
        name === 'bedrock' || name === 'vertex'
          ? inPath[name]
          : `/${name === 'azure' ? 'openai' : 'anthropic'}/v1/`,
      );
    });

    test('with tools', { timeout: 120_000 }, async () => {
      const { exit, stdout, stderr, home, turns } = await run('go on', (turn) =>
        turn === 1 ? { text: 'next', id: 'call_1', ...agents[agent].call } : { text: 'It is done.' },
      );

      expect([exit, stdout], stderr).toEqual([0, expect.stringContaining('It is done.')]);
      expect([turns, readFileSync(join(home, 'out.txt'), 'utf8')]).toEqual([2, 'ran']);
    });

    test('blocked', { timeout: 120_000 }, async () => {
      const begin = cloud.calls.length;

      const { stdout, stderr, turns } = await run('tell me of project nightfall', () => ({
        text: 'It is dark.',
      }));

      expect(stdout + stderr).toContain('codename');
      expect(stdout).not.toContain('It is dark.');
      expect(turns).toBe(0);
      const sent = cloud.calls.slice(begin).filter(({ body }) => body.includes('nightfall'));
      expect(sent).toEqual([]);
    });

    test('cut in mid-answer: never half an answer; Claude Code asks again, Codex says so', {
      timeout: 120_000,
    }, async () => {
      cloud.interrupt((response, { target, body }) => {
        const said = cloud.state.say(body);
        const kind = target.includes('/responses') ? 'responses' : 'messages';
        const isAmazon = target.startsWith('/model/');
        const pieces = eventsOf(kind, said).map((event) =>
          isAmazon ? chunkFrame(JSON.parse(event.slice(event.indexOf('data: ') + 6))) : Buffer.from(event),
        );
        const bytes = Buffer.concat(pieces);
        response.writeHead(200, {
          'content-type': isAmazon ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
        });
        if (said.text === 'a title') return response.end(bytes);
        cloud.interrupt(undefined);
        return response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
      });

      const { exit, stdout, stderr, turns } = await run('go on', () => ({ text: 'Water it.' }));

      if (agent === 'codex') {
        expect([exit, stdout, turns]).toEqual([1, '', 1]);
        return expect(stderr).toContain('stream disconnected before completion');
      }
      expect([exit, stdout], stderr).toEqual([0, expect.stringContaining('Water it.')]);
      return expect(turns).toBe(2);
    });
  },
);
