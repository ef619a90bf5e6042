import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventsOf } from '../src/dialects/answer-forms.ts';
import { dialects } from '../src/dialects/registry.ts';
import { answerOf, type Says } from './kit/five-turns.ts';
import { projects, secrets, startGateway } from './kit/gateway.ts';
import { startHost } from './kit/host.ts';
import { nothingIssued, refusalOf, type Vendor, vendors } from './kit/strict/vendors.ts';

// Real agents over a tool loop with thinking, at hosts that refuse what their vendors refuse. AGENTS_BIN is a folder with
// the programs: npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai

const bin = process.env.AGENTS_BIN;

const hosts = {
  deepseek: vendors.deepseek[0],
  moonshot: vendors.moonshot[0],
  mistral: vendors.mistral[0],
  'gemini by chat': vendors.gemini[0],
  gemini: vendors.gemini[1],
  anthropic: vendors.anthropic[0],
  llamacpp: vendors.llamacpp[0],
} as Readonly<Record<string, Vendor>>;

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
const turns: readonly Says[] = ['thinking and call', 'call', 'thinking and call', 'text and call', 'text'];

function withTool(answer: object, sent: string): object {
  const [name = 'none', input = {}] =
    Object.entries(tools).find(([tool]) => sent.includes(`"name":"${tool}"`)) ?? [];
  const text = JSON.stringify(input);
  const filled = JSON.stringify(answer)
    .replaceAll('get_weather', () => name)
    .replaceAll(JSON.stringify('{"city":"Köln"}'), () => JSON.stringify(text))
    .replaceAll('{"city":"Köln"}', () => text);
  return JSON.parse(filled) as object;
}

async function startVendor(vendor: Vendor) {
  const issued = nothingIssued();
  const refused: string[] = [];
  let results = 0;
  const host = await startHost((response, { target, body }) => {
    const sent = body.toString();
    const isGemini = vendor.dialect === 'gemini';
    const isStream = isGemini ? target.includes('stream') : sent.includes('"stream":true');
    const refusal = refusalOf(vendor, JSON.parse(sent), issued);
    if (refusal !== undefined) {
      refused.push(refusal);
      response.writeHead(400, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: refusal, type: 'invalid_request_error' } }));
    }
    const count = sent.split(/"role":"tool"|"type":"tool_result"|"functionResponse"/).length - 1;
    results = Math.max(results, count);
    const hasTools = Object.keys(tools).some((tool) => sent.includes(`"name":"${tool}"`));
    const says = hasTools ? (turns[count] ?? 'text') : 'text';
    const answer = withTool(answerOf(vendor, { says, ids: 'fresh' }, count, issued), sent);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (!isStream) return response.end(JSON.stringify(answer));
    for (const { name, data } of eventsOf(dialects[vendor.dialect], answer as never) ?? [])
      response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
    return response.end();
  });
  return { ...host, refused, results: () => results, forget: () => (results = 0) };
}

const running = await Promise.all(
  Object.entries(hosts).map(async ([name, vendor]) => ({ name, vendor, host: await startVendor(vendor) })),
);
const providerOf = (vendor: Vendor, name: string, url: string) => {
  const family = { messages: 'anthropic', gemini: 'gemini', chat: 'openai', responses: 'openai' }[
    vendor.dialect
  ];
  const base = family === 'openai' ? `${url}/v1` : url;
  const host = name.startsWith('gemini') ? 'gemini' : name;
  const only = vendor.dialect === 'chat' ? ', endpoints: [chat]' : '';
  return `{ dialect: ${family}, host: ${host}, base_url: "${base}", api_key: "\${PROVIDER_KEY}"${only} }`;
};
const idOf = (name: string) => name.replaceAll(' ', '-');
const gateway = await startGateway(`
providers:
${running.map(({ name, vendor, host }) => `  ${idOf(name)}: ${providerOf(vendor, name, host.url)}`).join('\n')}
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

describe.skipIf(bin === undefined).each(Object.keys(agents))('%s', (agent) => {
  const translated = running.filter(({ vendor }) => vendor.dialect !== (spoken[agent] ?? 'responses'));
  test.each(translated)('at $name', { timeout: 120_000 }, async ({ name, host }) => {
    const home = mkdtempSync(join(tmpdir(), 'home-'));
    mkdirSync(join(home, '.codex'));
    mkdirSync(join(home, '.gemini'));
    const login = { security: { auth: { selectedType: 'gemini-api-key' } } };
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(login));
    const { env, args } = agents[agent]?.(`at-${idOf(name)}`) ?? { env: {}, args: [] };
    const before = host.refused.length;
    host.forget();

    const code = await new Promise((resolve) => {
      const child = execFile(
        join(bin ?? '', agent),
        [...args],
        { cwd: work, timeout: 100_000, env: { PATH: process.env.PATH, HOME: home, ...env } },
        (error, stdout, stderr) =>
          resolve(error === null ? 0 : `${error.code}: ${stdout}${stderr}`.slice(-1_500)),
      );
      child.stdin?.end();
    });

    expect(host.refused.slice(before)).toEqual([]);
    expect(code).toBe(0);
    expect(host.results()).toBeGreaterThanOrEqual(4);
  });
});
