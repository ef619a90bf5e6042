import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messagesEvents } from '../../kit/answers.ts';
import { projects, secrets, startGateway } from '../../kit/gateway.ts';
import { type HostRequest, type Script, startHost } from '../../kit/host.ts';
import { scale } from '../../kit/scale.ts';

// The real Claude Code in a folder in which one file has a customer's name: the conversation that has read it is worked
// on by the local host alone. AGENTS_BIN as in real-agents.slow.test.ts.

const folders = process.env.AGENTS_BIN?.split(':') ?? [];
const customer = 'Muster AG';
const work = mkdtempSync(join(tmpdir(), 'routes-'));
writeFileSync(join(work, 'plain.txt'), 'one\ntwo\n');
writeFileSync(join(work, 'contract.txt'), `The contract with ${customer}.\n`);

/** How often a file is read before the conversation ends. */
const reads = scale(6, 200);

/** A host whose model reads the file that the prompt names, again and again, and then says that it is done. */
function reader(): Script {
  return (response, { body }) => {
    const text = body.toString();
    const file = /READ (\w+\.txt)/.exec(text)?.[1];
    const done = text.split('"type":"tool_result"').length - 1;
    const isLoop = file !== undefined && text.includes('"name":"Read"') && done < reads;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!isLoop) return response.end(messagesEvents.join(''));
    const input = JSON.stringify({ file_path: join(work, file) });
    const block = { type: 'tool_use', id: `toolu_${done}`, name: 'Read', input: {} };
    const events: readonly (readonly [string, object])[] = [
      ['content_block_start', { index: 0, content_block: block }],
      ['content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: input } }],
      ['content_block_stop', { index: 0 }],
      [
        'message_delta',
        { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 4 } },
      ],
      ['message_stop', {}],
    ];
    response.write(messagesEvents[0]);
    return response.end(
      events.map(([type, rest]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`).join(''),
    );
  };
}

describe.skipIf(folders.length === 0).each(folders.length === 0 ? [''] : folders)('%s', (bin) => {
  test('what a file says of a customer is sent to the local host alone, and nowhere while that is down', async () => {
    const local = await startHost(reader());
    const cloud = await startHost(reader());
    const provider = 'retries: { attempts: 1 }, breaker: { failures: 1000 }';
    const gateway = await startGateway(`
server: { port: 0 }
providers:
  ollama: { dialect: anthropic, base_url: "${local.url}", ${provider} }
  anthropic: { dialect: anthropic, base_url: "${cloud.url}", api_key: "\${PROVIDER_KEY}", ${provider} }
models:
  - { match: "claude-*", when: { text: { phrases: ["${customer}"] } }, provider: ollama, model: qwen3-coder }
  - { match: "claude-*", provider: anthropic }
policies:
  house:
    apply: all
    rules:
      - { id: stays, action: block, when: { text: { phrases: ["${customer}"] } }, unless: { provider: [ollama] } }
${projects}`);
    const run = (prompt: string) =>
      new Promise<{ code: unknown; out: string }>((resolve) => {
        const env = {
          ...{ PATH: process.env.PATH, HOME: mkdtempSync(join(tmpdir(), 'home-')) },
          ...{ ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: secrets.PROJECT_KEY },
          ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1' },
        };
        const args = ['-p', '--model', 'claude-sonnet-4-5', '--allowedTools', 'Read', '--', prompt];
        const child = execFile(
          join(bin, 'claude'),
          args,
          { cwd: work, env, timeout: 600_000 },
          (error, stdout) => resolve({ code: error?.code ?? 0, out: stdout }),
        );
        child.stdin?.end();
      });

    const plain = await run('READ plain.txt');
    const before = cloud.requests.length;
    const kept = await run('READ contract.txt');
    local.script((response) => response.writeHead(503).end('{}'));
    const down = await run('READ contract.txt');

    const [atCloud, atLocal] = [cloud, local].map(({ requests }) => requests);
    console.log(
      `${atLocal?.filter(says).length} of the local host's ${atLocal?.length} requests have the name, ` +
        `${atCloud?.filter(says).length} of the other's ${atCloud?.length}`,
    );
    expect(plain.code, plain.out).toBe(0);
    expect(kept.code, kept.out).toBe(0);
    expect(before).toBeGreaterThanOrEqual(reads);
    // The first turn, which has not read the file yet, is nobody's secret.
    expect(cloud.requests.length).toBeGreaterThan(before);
    expect(local.requests.length).toBeGreaterThanOrEqual(reads - 1);
    expect(local.requests.some(says)).toBe(true);
    expect(cloud.requests.filter(says)).toEqual([]);
    expect(down.code, down.out).not.toBe(0);
  }, 1_800_000);
});

function says({ target, headers, body }: HostRequest): boolean {
  return [target, ...headers.flat(), body.toString()].some((text) => text.includes(customer));
}
