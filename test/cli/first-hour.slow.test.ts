import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chatAnswer, chatEvents } from '../kit/answers.ts';
import { startProgram } from '../kit/child.ts';
import { emptyDirectory } from '../kit/command.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';
import { startTerminal } from '../kit/terminal.ts';

// What somebody new does in the first hour, from an empty home, with the real program: once at a terminal, once in pipes.

/** A place to work in: its home is empty, and no configuration there counts as the user's own. */
class Place {
  readonly home = emptyDirectory();
  readonly env: Record<string, string> = {
    XDG_CONFIG_HOME: join(this.home, '.config'),
    OLLAMA_HOST: '127.0.0.1:9',
  };
  readonly file = join(this.home, 'gateway.yaml');
  host: ScriptedHost | undefined;
  /** What the last command printed. */
  printed = '';

  edit(change: (yaml: string) => string): void {
    writeFileSync(this.file, change(readFileSync(this.file, 'utf8')));
  }
}

/** A command with its exit code and what it prints, or something that a person does beside. */
type Step =
  | readonly [argv: readonly string[], exit: number, words: string | RegExp]
  | ((place: Place) => unknown);

const init: Step = [['init', '--no-input'], 0, /gateway\.yaml/];
const serve: Step = [['serve', '--detach', '-p', '0', '--plants-port', '0'], 0, '127.0.0.1'];
const stop: Step = [['stop'], 0, ''];

const withHost = async (place: Place) => {
  place.host = await startHost((response, { target, body }) => {
    if (target.endsWith('/models')) return response.end('{"data":[{"id":"qwen3:8b"}]}');
    const isStream = body.includes('"stream":true');
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
    return response.end(isStream ? chatEvents.join('') : chatAnswer);
  });
};
const withOllama = async (place: Place) => {
  await withHost(place);
  place.env.OLLAMA_HOST = place.host?.url ?? '';
};
const withCodename = (place: Place) =>
  place.edit((yaml) =>
    yaml.replace(
      '    rules:\n',
      '    rules:\n      - { id: codename, action: block, when: { text: { phrases: ["project bluebird"] } } }\n',
    ),
  );

const scripts: Readonly<Record<string, readonly Step[]>> = {
  'the sandbox, in the background, and what is left of it': [
    serve,
    [['send', 'hello'], 0, 'The sandbox read: "hello".'],
    [['send', 'when does Project Nightfall start?'], 3, 'blocked by rule codename'],
    [['send', 'is API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs right?'], 0, 'API_KEY=[REDACTED:content.secret]'],
    [['logs'], 0, / 403 .* 200 /s],
    [['usage'], 0, 'no ledger is kept in sandbox mode'],
    [['status'], 0, 'sandbox mode'],
    stop,
    [['status'], 8, 'no gateway is running'],
    [['send', 'hello'], 8, 'start one with "gateway serve"'],
    ({ home }) => {
      expect(readdirSync(home)).toEqual(['.local']);
      expect(readdirSync(join(home, '.local/state'))).toEqual(['gateway']);
    },
  ],
  'a key of OpenAI, at another host': [
    withHost,
    ({ env }) => {
      env.OPENAI_API_KEY = 'sk-proj-0123456789abcdefABCDEF';
    },
    init,
    (place) =>
      place.edit((yaml) => yaml.replace('  openai:\n', `  openai:\n    base_url: ${place.host?.url}/v1\n`)),
    [['config', 'check'], 2, /OPENAI_API_KEY goes to http.*"gateway trust" allows it/s],
    [['serve', '--no-input', '-p', '0'], 2, '"gateway trust"'],
    [['trust', '--no-input'], 0, 'OPENAI_API_KEY goes to http'],
    serve,
    [['send', 'hello'], 2, 'name a model with -m'],
    [['send', 'hello', '-m', 'gpt-5-mini'], 0, 'Grüße'],
    [['usage'], 0, /local +1/],
    stop,
    ({ host }) =>
      expect(host?.requests.at(-1)?.headers).toContainEqual([
        'authorization',
        'Bearer sk-proj-0123456789abcdefABCDEF',
      ]),
  ],
  'Ollama alone, and its end': [
    withOllama,
    init,
    serve,
    [['send', 'hello'], 0, 'Grüße'],
    (place) => place.host?.close(),
    [['send', 'hello'], 7, /can't be reached|failed several times/],
    [['models'], 0, 'no provider lists a model that models[].match takes'],
    [['doctor'], 1, 'nothing listens there'],
    stop,
  ],
  'a policy, tried and changed while it serves': [
    init,
    ({ home }) =>
      writeFileSync(
        join(home, 'request.json'),
        '{"model":"sandbox-mini","messages":[{"role":"user","content":"when does Project  Bluebird start?"}]}',
      ),
    [['policy', 'explain', 'request.json'], 0, /^decision +allow/m],
    serve,
    [['send', 'when does project bluebird start?'], 0, 'The sandbox read'],
    withCodename,
    [['config', 'check'], 0, 'gateway.yaml: fine'],
    [['policy', 'explain', 'request.json'], 3, 'blocked by rule codename'],
    [['send', 'when does project bluebird start?'], 3, 'blocked by rule codename'],
    [['send', 'hello'], 0, 'The sandbox read: "hello"'],
    (place) => place.edit((yaml) => yaml.replace('action: mask', 'action: mosk')),
    [['config', 'check'], 2, /did you mean "mask"\?/],
    [['send', 'when does project bluebird start?'], 3, 'blocked by rule codename'],
    [['doctor'], 1, 'has not loaded the current file'],
    stop,
  ],
  'keys and a budget for a team': [
    [['init', '--no-input', '--project', 'shop'], 0, /GATEWAY_KEY=gw_\w+/],
    (place) => {
      place.env.SHOP = /gw_\w+/.exec(place.printed)?.[0] ?? '';
      place.edit((yaml) => yaml.replace('  "shop":\n', '  "shop":\n    limits: { requests_per_day: 2 }\n'));
    },
    [['config', 'check'], 2, /requests_per_minute/],
    (place) => place.edit((yaml) => yaml.replace('requests_per_day', 'requests_per_minute')),
    serve,
    [['send', 'hello'], 4, 'put a project key into GATEWAY_KEY'],
    ({ env }) => {
      env.GATEWAY_KEY = env.SHOP ?? '';
    },
    [['send', 'one'], 0, 'The sandbox read'],
    [['send', 'two'], 0, 'The sandbox read'],
    [['send', 'three'], 6, 'the limit of project shop is 2 requests a minute'],
    [['usage', '--by', 'key'], 0, /shop\S* +2/],
    stop,
  ],
};

interface Ended {
  readonly exit: number | null;
  readonly text: string;
}

const ways: Readonly<Record<string, (argv: readonly string[], place: Place) => Promise<Ended>>> = {
  'at a terminal': async (argv, { home, env }) => {
    const terminal = startTerminal(argv, { home, env, columns: 200 });
    const { exit } = await terminal.ended;
    return { exit, text: terminal.screen() };
  },
  'in pipes': async (argv, { home, env }) => {
    const child = startProgram(argv, home, env);
    child.process.stdin?.end();
    const { exit, stdout, stderr } = await child.ended;
    return { exit, text: `${stdout}${stderr}`.replaceAll('\t', '  ') };
  },
};

describe.each(Object.entries(ways))('%s', (_way, run) => {
  test.each(Object.entries(scripts))('%s', async (_title, steps) => {
    const place = new Place();
    onTestFinished(async () => {
      await startProgram(['stop', '--now'], place.home, place.env).ended;
    });
    let wasEdited = false;
    for (const step of steps) {
      if (typeof step === 'function') {
        await step(place);
        wasEdited = true;
        continue;
      }
      const [argv, exit, words] = step;
      let ended = await run(argv, place);
      // A running gateway follows its file within a second.
      for (let again = 0; wasEdited && again < 20 && ended.exit !== exit && argv[0] === 'send'; again += 1) {
        await setTimeout(250);
        ended = await run(argv, place);
      }
      place.printed = ended.text;
      const text = typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words);
      expect({ argv, ...ended }).toEqual({ argv, exit, text });
    }
  });
});
