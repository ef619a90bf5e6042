import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { type Agent, agents, runAgent } from './kit/agents.ts';
import { messagesEvents } from './kit/answers.ts';
import { projects, startGateway } from './kit/gateway.ts';
import { type Script, startHost } from './kit/host.ts';
import { stopAtEnd } from './kit/started.ts';

// What agents ask of a gateway, each started by `gateway run` with a model that it can't know, at a host that speaks
// chat. AGENTS_BIN has the folders (`:` between them) with the programs, of several versions if it is more than one:
// npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @github/copilot @qwen-code/qwen-code
// The table in docs/agents.md is what came of it: with `-u` it is written.

const folders = process.env.AGENTS_BIN?.split(':') ?? [];
const work = mkdtempSync(join(tmpdir(), 'agents-'));
// Several, since Claude Code 2.1.197 doesn't send one again that has not changed.
const longFiles = [1, 2, 3, 4, 5].map((number) => join(work, `long-${number}.txt`));
for (const file of longFiles)
  writeFileSync(file, 'A line of a long file, with some words in it as files have them.\n'.repeat(700));
// Gemini CLI and Qwen Code read no settings below a folder that others may write.
const homes = join(import.meta.dirname, '..', 'node_modules', '.agents-homes');
mkdirSync(homes, { recursive: true, mode: 0o700 });
// What an agent leaves behind may be writing still.
afterAll(() => rmSync(homes, { recursive: true, force: true, maxRetries: 10 }));

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_763_000_000, model: 'house' };

/** A chat answer to a request, streamed if it asks for that. */
const answer =
  (delta: object, finish = 'stop'): Script =>
  (response, { body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    const usage = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 };
    const message = { role: 'assistant', content: null, ...delta };
    if (stream !== true) {
      const whole = { ...chunk, object: 'chat.completion', usage };
      response.setHeader('content-type', 'application/json');
      return response.end(
        JSON.stringify({ ...whole, choices: [{ index: 0, message, finish_reason: finish }] }),
      );
    }
    response.setHeader('content-type', 'text/event-stream');
    const events = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { ...chunk, choices: [], usage },
    ];
    return response.end(
      [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
    );
  };
/** What is said in the end. */
const conclusion = 'That is all there is.';
const hello = answer({ content: 'Hello.' });

/** Reads one long file after the other, at a host that takes no more than 1,000 lines of it and says so as vLLM does. */
function overflowing({ tool: name, inputFor }: Agent): { readonly script: Script; refused(): number[] } {
  const lengths: number[] = [];
  const tooLong = {
    object: 'error',
    message:
      "This model's maximum context length is 32768 tokens. However, you requested 40123 tokens (38075 in the messages, 2048 in the completion). Please reduce the length of the messages or completion.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  };
  let calls = 0;
  const script: Script = (response, request) => {
    const text = request.body.toString();
    if (text.split('A line of a long file').length > 1000) {
      lengths.push(text.length);
      response.writeHead(400, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(tooLong));
    }
    calls += 1;
    const isAsked =
      lengths.length === 0 && text.includes(`"name":"${name}"`) && text.includes('READ THE FILE');
    const file = longFiles[calls % longFiles.length] as string;
    const called = { name, arguments: JSON.stringify(inputFor(file)) };
    const tool_calls = [{ index: 0, id: `call_${calls}`, type: 'function', function: called }];
    return isAsked
      ? answer({ tool_calls }, 'tool_calls')(response, request)
      : answer({ content: conclusion })(response, request);
  };
  return { script, refused: () => lengths };
}

const host = await startHost(hello);
const anthropic = await startHost((response) => {
  response.setHeader('content-type', 'text/event-stream');
  return response.end(messagesEvents.join(''));
});
const gateway = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], retries: { attempts: 1 } }
  anthropic: { dialect: anthropic, base_url: "${anthropic.url}" }
models:
  - { match: house-model, provider: host }
  - { match: "claude-*", provider: anthropic }
${projects}`);

/** Stands between agent and gateway, and reads what goes by: the lines with which requests and answers begin. */
async function startTap() {
  const asked: string[] = [];
  const statuses: number[] = [];
  const server = createServer((client) => {
    const upstream = connect(gateway.port, '127.0.0.1');
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (bytes) => {
      for (const [, line = ''] of bytes.toString('latin1').matchAll(/^([A-Z]+ \/\S*) HTTP\/1\.1\r$/gm))
        asked.push(line);
    });
    upstream.on('data', (bytes) => {
      for (const [, status] of bytes.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm))
        statuses.push(Number(status));
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stopAtEnd(async () => void server.close());
  const { port } = server.address() as { port: number };
  return { asked, statuses, url: `http://127.0.0.1:${port}` };
}
const tap = await startTap();

/** Runs an agent with an empty home. */
function run(folder: string, name: string, asked: { readonly model: string; readonly prompt: string }) {
  const home = mkdtempSync(join(homes, 'home-'));
  return runAgent({ ...asked, folder, name, home, cwd: work, url: tap.url });
}

const rows = [
  'asks for',
  'a model that it does not know',
  'its session',
  'a prompt that is too long, in the words of vLLM',
  'its own headers, at a host of its dialect',
];
/** By agent and row: what came of it, by version. */
const found = new Map<string, Map<string, string>>();
const versionsOf = new Map<string, Set<string>>();

describe.skipIf(folders.length === 0).each(folders.length === 0 ? [''] : folders)('%s', (folder) => {
  const names = Object.keys(agents).filter((name) => existsSync(join(folder, name)));
  describe.each(names)('%s', (name) => {
    const said = execFileSync(join(folder, name), ['--version'], { encoding: 'utf8' });
    const version = /\d+(?:\.\d+)+/.exec(said)?.[0] ?? said;
    versionsOf.set(name, (versionsOf.get(name) ?? new Set()).add(version));
    const note = (row: number, outcome: string) => {
      const cell = `${name} ${row}`;
      found.set(cell, (found.get(cell) ?? new Map<string, string>()).set(version, outcome));
    };

    test('everything that it asks for is answered, its model known, its session named', {
      timeout: 200_000,
    }, async () => {
      host.script(hello);
      const [asksBefore, statusesBefore] = [tap.asked.length, tap.statuses.length];
      const recordsBefore = gateway.records.length;

      const ended = await run(folder, name, { model: 'house-model', prompt: 'Say hello.' });

      expect(ended).toMatchObject({ exit: 0 });
      expect(tap.statuses.slice(statusesBefore).filter((status) => status >= 400)).toEqual([]);
      // The others are `run`'s own.
      const asked = tap.asked
        .slice(asksBefore)
        .filter((line) => !/ \/v1\/(?:gateway\/|models\/)/.test(line))
        .map((line) => line.replace(/client_version=[\d.]+/, 'client_version=…'));
      note(
        0,
        [...new Set(asked)]
          .sort()
          .map((line) => `\`${line}\``)
          .join(', '),
      );
      const doubt = ended.said
        .split('\n')
        .find((line) => /metadata|recogni[sz]e|unknown model|not in the/i.test(line));
      note(1, doubt === undefined ? 'no warning' : `"${doubt.trim().slice(0, 110)}…"`);
      const records = gateway.records.slice(recordsBefore).filter(({ provider }) => provider === 'host');
      expect(records.map(({ agent }) => agent)).toEqual(records.map(() => name));
      const sessions = new Set(records.map(({ session }) => session));
      expect(sessions.size).toBeLessThanOrEqual(2);
      note(2, sessions.has(undefined) ? 'not named' : 'named in each request');
    });

    test('it knows that its prompt is too long', { timeout: 200_000 }, async () => {
      const { script, refused } = overflowing(agents[name] as Agent);
      host.script(script);

      const ended = await run(folder, name, { model: 'house-model', prompt: 'READ THE FILE' });

      expect(refused().length).toBeGreaterThan(0);
      const goesOn = ended.said.includes(conclusion);
      const lines = ended.said.split('\n').map((line) => stripVTControlCharacters(line).trim());
      const told = lines.find((line) => /context|too long|too large|length/i.test(line));
      note(
        3,
        goesOn
          ? 'shortens the conversation and goes on'
          : `ends${told === undefined ? '' : `: "${told.slice(0, 90)}…"`}`,
      );
      expect(refused().length).toBeLessThan(4);
    });

    test.runIf(name === 'claude')('its betas and marks arrive', { timeout: 200_000 }, async () => {
      const ended = await run(folder, name, { model: 'claude-sonnet-4-5', prompt: 'Say hello.' });
      expect(ended).toMatchObject({ exit: 0 });
      const { headers = [] } = anthropic.requests.at(-1) ?? {};
      const own = headers
        .map(([header]) => header.toLowerCase())
        .filter((header) => /^(?:anthropic-|x-claude|x-app)/.test(header));
      expect(own).toContain('anthropic-beta');
      note(
        4,
        own
          .sort()
          .map((header) => `\`${header}\``)
          .join(', '),
      );
    });
  });
});

test.skipIf(folders.length === 0)('docs/agents.md says what came of it', async () => {
  const cellOf = (name: string, row: number) => {
    const outcomes = [...(found.get(`${name} ${row}`) ?? new Map<string, string>())];
    const distinct = new Set(outcomes.map(([, outcome]) => outcome));
    if (distinct.size <= 1) return [...distinct][0] ?? '–';
    return outcomes.map(([version, outcome]) => `${version}: ${outcome}`).join('; ');
  };
  const tried = Object.keys(agents).filter((name) => versionsOf.has(name));
  const table = [
    `| agent | ${rows.join(' | ')} |`,
    `|${'---|'.repeat(rows.length + 1)}`,
    ...tried.map((name) => {
      const versions = [...(versionsOf.get(name) ?? [])].sort().join(' and ');
      return `| ${agents[name]?.title} ${versions} | ${rows.map((_, row) => cellOf(name, row)).join(' | ')} |`;
    }),
  ];
  const doc = join(import.meta.dirname, '..', 'docs', 'agents.md');
  const written = readFileSync(doc, 'utf8').replace(
    /(<!-- contract -->\n)[\s\S]*(<!-- \/contract -->)/,
    (_all, start, end) => `${start}\n${table.join('\n')}\n\n${end}`,
  );

  await expect(written).toMatchFileSnapshot(doc);
});
