import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory } from '../../kit/command.ts';
import type { Invocation } from './invocations.ts';

type Environment = Readonly<Record<string, string>>;

export interface Person {
  readonly uid: number;
  readonly gid: number;
}

export interface Place {
  /** Where commands run: a configuration, and the files that the invocations name. */
  readonly work: string;
  /** Not made yet. */
  readonly home: string;
  /** Without HOME. */
  readonly env: Environment;
}

const username = 'rosa';
const password = 'correct horse battery';

/** A gateway with a plant store for the tests of a file; call the result to get a place to run a command in. */
export function useSandbox(): (invocation: Invocation, owner?: Person) => Place {
  let env: Environment = {};
  let stop = async () => {};
  beforeAll(async () => {
    const home = emptyDirectory();
    const environment = { cwd: home, stdin: `${password}\n` };
    await command(['plants', 'user', 'add', username, '--password-stdin'], environment);
    const child = startProgram(['serve', '-p', '0', '--plants-port', '0'], home);
    await child.wrote('"listening"');
    stop = async () => {
      child.process.kill('SIGTERM');
      await child.ended;
    };
    const running = JSON.parse((await command(['status', '-o', 'json'], { cwd: home })).stdout);
    const key = JSON.parse((await command(['env', 'curl', '-o', 'json'], { cwd: home })).stdout).variables;
    const answer = await fetch(`${running.plants_url}/user/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const { token } = (await answer.json()) as { token: string };
    env = { ...key, GATEWAY_MODEL: 'sandbox-mini', PLANTS_URL: running.plants_url, PLANTS_TOKEN: token };
  });
  afterAll(() => stop());
  return ({ isLoggedOut, isAlone }, owner) => {
    const directory = emptyDirectory();
    const work = join(directory, 'work');
    writeFiles(work, env);
    if (owner !== undefined) {
      chmodSync(directory, 0o755);
      for (const path of [work, ...readdirSync(work).map((name) => join(work, name))])
        chownSync(path, owner.uid, owner.gid);
    }
    const { PLANTS_TOKEN, GATEWAY_URL, GATEWAY_KEY, ...rest } = env;
    const path = `${work}:${process.env.PATH}`;
    return {
      work,
      home: join(directory, 'home'),
      env: {
        ...rest,
        PATH: path,
        ...(isLoggedOut === true ? {} : { PLANTS_TOKEN: PLANTS_TOKEN ?? '' }),
        ...(isAlone === true ? {} : { GATEWAY_URL: GATEWAY_URL ?? '', GATEWAY_KEY: GATEWAY_KEY ?? '' }),
      },
    };
  };
}

function writeFiles(work: string, { GATEWAY_URL, GATEWAY_KEY }: Environment): void {
  mkdirSync(work);
  const body = '{"model":"m","messages":[{"role":"user","content":"hello"}]}';
  const record = {
    time: '2026-01-02T03:04:05.000Z',
    request_id: 'req_1',
    endpoint: 'chat',
    project: 'shop',
    key: 'shop-web',
    model: 'm',
    status: 200,
    outcome: 'answered',
    decision: 'allow',
    total_ms: 1,
    request_body: body,
  };
  const files = {
    'gateway.yaml': `server: { port: 0 }
providers: { mine: { dialect: openai, base_url: "${GATEWAY_URL}/v1", api_key: ${GATEWAY_KEY} } }
models: [{ match: "*", provider: mine }]
policies: { house: { apply: all, rules: [{ id: codename, action: block, when: { text: { phrases: [nightfall] } }, reason: content.codename, tests: { block: [nightfall] } }] } }
projects: { shop: { keys: [{ id: shop-web, hash: "sha256:${'0'.repeat(64)}" }] } }
plants: { store: { port: 0 } }
`,
    'serve.yaml': 'server: { port: 0 }\nplants: { store: { port: 0 } }\n',
    'wanting.yaml': 'state: redis://127.0.0.1:9/0\n',
    'note.txt': 'a note\n',
    'request.json': body,
    'records.jsonl': `${JSON.stringify(record)}\n`,
    claude: '#!/bin/sh\necho started "$@"\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text, { mode: 0o600 });
  chmodSync(join(work, 'claude'), 0o755);
}
