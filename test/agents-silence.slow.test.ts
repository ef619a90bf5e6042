import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { agents, runAgent } from './kit/agents.ts';
import { speakAll } from './kit/answers.ts';
import { projects, startGateway } from './kit/gateway.ts';
import { type HostRequest, type Script, startHost } from './kit/host.ts';
import { startNginx } from './kit/nginx.ts';
import { isInstalled } from './kit/real-program.ts';
import { scale } from './kit/scale.ts';

// Real agents at a host that says nothing for minutes before the first byte of its answer, as local models do: longer than
// nginx waits by default, and with EXHAUSTIVE=1 longer than any agent. AGENTS_BIN as in agents-contract.slow.test.ts.

const folders = process.env.AGENTS_BIN?.split(':') ?? [];
const silentMs = scale(100_000, 600_000);
const work = mkdtempSync(join(tmpdir(), 'silence-'));
const homes = join(import.meta.dirname, '..', 'node_modules', '.silence-homes');
mkdirSync(homes, { recursive: true, mode: 0o700 });
// What an agent leaves behind may be writing still.
afterAll(() => rmSync(homes, { recursive: true, force: true, maxRetries: 10 }));

const prompt = 'Say what there is to say.';
/** What `speakAll` streams. */
const spoken = 'Grüße 👋';

/** Silent for the conversation itself, which has tools, and not for titles and the like. */
const silent: Script = async (response, request) => {
  if (isConversation(request)) await pause(silentMs);
  return speakAll(response, request);
};

/** Before its answer: Qwen Code asks about what to remember of it, too. */
function isConversation({ body }: HostRequest): boolean {
  return body.includes(prompt) && body.includes('"tools"') && !body.includes(spoken);
}

/** Runs an agent at a gateway and a host of its own. */
async function wait(folder: string, name: string, way: string) {
  const host = await startHost(silent);
  const gateway = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], heartbeat: 15s, open_after: 45s, timeouts: { headers: 900s } }
models: [{ match: house-model, provider: host }]
${projects}`);
  const url = way === 'directly' ? gateway.url : await startNginx(gateway.url);
  const home = mkdtempSync(join(homes, 'home-'));
  const startedAt = performance.now();
  const { exit, said } = await runAgent({
    ...{ folder, name, home, cwd: work, url, model: 'house-model', prompt },
    timeoutMs: silentMs + 200_000,
  });
  const ms = performance.now() - startedAt;
  const asked = host.requests.filter(isConversation).length;
  console.log(`${name} ${way}: exit ${exit} after ${Math.round(ms / 1_000)} s, ${asked} requests`);
  const isWaiting = ms > silentMs;
  return { exit, answer: said.includes(spoken) ? 'shown' : said, asked, isWaiting };
}

test.skipIf(folders.length === 0)(
  'each waits, behind nginx too, and shows the answer to the one request that it sent',
  { timeout: silentMs + 300_000 },
  async () => {
    const ways = isInstalled('nginx') ? ['directly', 'behind nginx'] : ['directly'];
    const runs = folders.flatMap((folder) =>
      Object.keys(agents)
        .filter((name) => existsSync(join(folder, name)))
        .flatMap((name) => ways.map((way) => ({ folder, name, way }))),
    );
    const names = runs.map(({ folder, name, way }) => `${folder}/${name} ${way}`);

    const ended = await Promise.all(runs.map(({ folder, name, way }) => wait(folder, name, way)));

    const waited = { exit: 0, answer: 'shown', asked: 1, isWaiting: true };
    expect(Object.fromEntries(ended.map((each, i) => [names[i], each]))).toEqual(
      Object.fromEntries(names.map((name) => [name, waited])),
    );
  },
);
