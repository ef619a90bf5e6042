import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projects, secrets, startGateway } from './kit/gateway.ts';
import type { Fields } from './kit/strict/shapes.ts';
import { families, idOf, providerAt, startVendorHost, thoughtsBack, whole } from './kit/vendor-host.ts';

// Real agents over a tool loop with thinking, at hosts that refuse what their vendors refuse. AGENTS_BIN has the folders
// (`:` between them) with the programs, of several versions if it is more than one:
// npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
// The table in docs/translation-howto.md is what came of it: with `-u` it is written.

const folders = process.env.AGENTS_BIN?.split(':') ?? [];

const work = mkdtempSync(join(tmpdir(), 'agents-'));
writeFileSync(join(work, 'notes.txt'), 'one\ntwo\nthree\n');
const notes = join(work, 'notes.txt');

/** A tool of each agent's that reads a file, and how it is called. */
const tools: Readonly<Record<string, object>> = {
  Read: { file_path: notes },
  exec_command: { cmd: 'cat notes.txt' },
  shell_command: { command: 'cat notes.txt' },
  shell: { command: ['cat', 'notes.txt'] },
  exec: { input: 'text((await tools.exec_command({ cmd: "cat notes.txt" })).output)' },
  read_file: { file_path: notes, absolute_path: notes },
  read: { filePath: notes },
};
function withTool(answer: Fields, sent: string): Fields {
  const [name = 'none', input = {}] =
    Object.entries(tools).find(([tool]) => sent.includes(`"name":"${tool}"`)) ?? [];
  const text = JSON.stringify(input);
  const filled = JSON.stringify(answer)
    .replaceAll('get_weather', () => name)
    .replaceAll(JSON.stringify('{"city":"Köln"}'), () => JSON.stringify(text))
    .replaceAll('{"city":"Köln"}', () => text);
  return JSON.parse(filled) as Fields;
}

const isOfLoop = (sent: string) => Object.keys(tools).some((tool) => sent.includes(`"name":"${tool}"`));
const running = await Promise.all(
  Object.entries(families).map(async ([name, vendor]) => ({
    name,
    vendor,
    host: await startVendorHost(vendor, { isOfLoop, fill: withTool }),
  })),
);
const gateway = await startGateway(`
providers:
${running.map(({ name, vendor, host }) => `  ${idOf(name)}: ${providerAt(name, vendor, host.url)}`).join('\n')}
models:
${running.map(({ name, vendor }) => `  - { match: at-${idOf(name)}, provider: ${idOf(name)}, model: ${vendor.model} }`).join('\n')}
  - { match: "*", provider: deepseek, model: deepseek-v4-pro }
${projects}`);

const key = secrets.PROJECT_KEY;
const prompt = 'Read the notes.';
const agents: Readonly<Record<string, (model: string) => { env: object; args: readonly string[] }>> = {
  claude: (model) => ({
    env: {
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    args: ['-p', '--model', model, '--allowedTools', 'Read', '--', prompt],
  }),
  codex: (model) => ({
    env: { GATEWAY_KEY: key },
    args: [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', model],
      ...['-c', 'model_provider="gateway"', '-c'],
      `model_providers.gateway={name="gateway", base_url="${gateway.url}/v1", env_key="GATEWAY_KEY", wire_api="responses"}`,
      prompt,
    ],
  }),
  gemini: (model) => ({
    env: { GOOGLE_GEMINI_BASE_URL: gateway.url, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    args: ['-m', model, '--yolo', '-p', prompt],
  }),
  opencode: (model) => {
    const provider = {
      npm: '@ai-sdk/anthropic',
      name: 'gateway',
      options: { baseURL: `${gateway.url}/v1`, apiKey: key },
      models: { [model]: { name: model } },
    };
    return {
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { gateway: provider } }) },
      args: ['run', '-m', `gateway/${model}`, prompt],
    };
  },
};

/** What each of them speaks; at a host of the same dialect nothing is translated. */
const spoken: Readonly<Record<string, string>> = {
  claude: 'messages',
  gemini: 'gemini',
  opencode: 'messages',
};

const doc = join(import.meta.dirname, '..', 'docs', 'translation-howto.md');
const titles: Readonly<Record<string, string>> = {
  ...{ claude: 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI', opencode: 'opencode' },
};
const hostTitles: Readonly<Record<string, string>> = {
  openai: 'OpenAI (GPT-5.5)',
  ...{ anthropic: 'Anthropic', deepseek: 'DeepSeek', moonshot: 'Kimi', mistral: 'Mistral' },
  gemini: "Gemini 3, Google's own API",
  'gemini by chat': "Gemini 3, Google's OpenAI endpoint",
  llamacpp: 'llama.cpp (Qwen 3.5)',
};
const versions = new Map<string, string[]>();
/** By agent and host: what the runs of all versions came to. */
const outcomes = new Map<string, 'works' | 'works; keeps no thinking' | 'fails'>();
const translatedAt = (agent: string) =>
  running.filter(({ vendor }) => vendor.dialect !== (spoken[agent] ?? 'responses'));

describe.each(folders)('%s', (bin) => {
  describe.each(Object.keys(agents))('%s', (agent) => {
    test('has a version', () => {
      const said = execFileSync(join(bin, agent), ['--version'], { encoding: 'utf8' });
      versions.set(agent, [...(versions.get(agent) ?? []), /\d+(?:\.\d+)+/.exec(said)?.[0] ?? said]);
    });

    test.each(translatedAt(agent))('at $name', { timeout: 200_000 }, async ({ name, vendor, host }) => {
      outcomes.set(`${agent} ${name}`, 'fails');
      const home = mkdtempSync(join(tmpdir(), 'home-'));
      mkdirSync(join(home, '.codex'));
      mkdirSync(join(home, '.gemini'));
      const login = { security: { auth: { selectedType: 'gemini-api-key' } } };
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(login));
      const { env, args } = agents[agent]?.(`at-${idOf(name)}`) ?? { env: {}, args: [] };
      const before = host.refused.length;
      host.sentBack();

      const code = await new Promise((resolve) => {
        const child = execFile(
          join(bin, agent),
          [...args],
          { cwd: work, timeout: 180_000, env: { PATH: process.env.PATH, HOME: home, ...env } },
          (error, stdout, stderr) =>
            resolve(error === null ? 0 : `${error.code}: ${stdout}${stderr}`.slice(-1_500)),
        );
        child.stdin?.end();
      });

      expect(host.refused.slice(before)).toEqual([]);
      expect(code).toBe(0);
      const { results, thoughts } = host.sentBack();
      expect(results).toBe(whole.results);
      // It keeps no thoughts in its history, only the signatures of calls.
      const isForgetful = agent === 'gemini' && thoughts === 0;
      if (!isForgetful) expect(thoughts).toBe(thoughtsBack(vendor));
      outcomes.set(
        `${agent} ${name}`,
        isForgetful && thoughtsBack(vendor) > 0 ? 'works; keeps no thinking' : 'works',
      );
    });
  });
});

test.skipIf(folders.length === 0)('docs/translation-howto.md says what came of it', async () => {
  const table = [
    `| host | ${Object.values(titles).join(' | ')} | what its thinking becomes |`,
    '|---|---|---|---|---|---|',
    ...running.map(({ name, vendor }) => {
      const cells = Object.keys(agents).map((agent) => outcomes.get(`${agent} ${name}`) ?? 'same dialect');
      const ofCalls =
        vendor.reasoning === 'signed' && (vendor.dialect === 'gemini' || vendor.dialect === 'chat');
      const becomes =
        thoughtsBack(vendor) === 0
          ? 'is left out: the host refuses it'
          : ofCalls
            ? 'signatures of calls go back'
            : vendor.reasoning === 'signed'
              ? 'goes back with its signature'
              : `goes back as \`${vendor.reasoning}\``;
      return `| ${hostTitles[name]} | ${cells.join(' | ')} | ${becomes} |`;
    }),
  ];
  const tried = Object.entries(titles).map(
    ([agent, title]) => `${title} ${[...new Set(versions.get(agent))].sort().join(' and ')}`,
  );
  const written = readFileSync(doc, 'utf8').replace(
    /(<!-- real agents -->\n)[\s\S]*(<!-- \/real agents -->)/,
    (_all, start, end) => `${start}${tried.join(', ')}.\n\n${table.join('\n')}\n${end}`,
  );

  await expect(written).toMatchFileSnapshot(doc);
});
