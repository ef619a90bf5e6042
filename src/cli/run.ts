import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { Argument, type Command } from 'commander';
import type { AgentModels } from '../client/address.ts';
import { GatewayError } from '../errors.ts';
import { type Run, toRunKey } from '../lib/run-key.ts';
import type { DetectorName } from '../policy/detectors/names.ts';
import { agentGateway } from './agents/agent-gateway.ts';
import { chooseModels, modelsFor, readModelLimits } from './agents/choose-model.ts';
import {
  agentNames,
  type ClientName,
  clientOf,
  isCloudSwitch,
  type ModelLimits,
  pastProxies,
  writeFiles,
} from './agents/clients.ts';
import { usesLogin, wantedLogin } from './agents/logins.ts';
import type { Diagnosis } from './doctor/finding.ts';
import { offerConfiguration } from './run/offer-configuration.ts';
import { commonOptions, createCommand, detectorList, positiveInteger, usdArgument } from './shell/command.ts';
import { type CapturedSignal, deadline, type Io } from './shell/io.ts';
import { note } from './shell/print/print.ts';
import { QuietExit } from './shell/terminal.ts';

const answerSeconds = 10;

interface RunOptions {
  readonly model?: string;
  readonly modelSmall?: string;
  readonly modelThinking?: string;
  readonly login?: boolean;
  readonly mask?: readonly DetectorName[];
  readonly budget?: number;
  readonly requests?: number;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'run',
    summary: "start an agent that uses the gateway; the exit code is the agent's",
    examples: [
      'gateway run claude -p "hello"',
      'gateway run --login codex exec --skip-git-repo-check "hello"',
      'gateway run --budget 5 -m claude-sonnet-4-5 --mask secrets,email opencode run "hello"',
    ],
  })
    .addArgument(new Argument('<agent>', 'what to start').choices(agentNames))
    .argument('[arguments...]', "the agent's own arguments, passed on unchanged")
    .option('--login', "use the agent's own login of a subscription, even if a key is configured")
    .option('-m, --model <name>', "model to ask for (default: GATEWAY_MODEL, else the agent's own)")
    .option(
      '--mask <detectors>',
      'keep what they find (secrets, email, …) from leaving, and restore it in answers',
      detectorList,
    )
    .option('--model-small <name>', "model for the agent's small tasks, such as titles (default: as -m)")
    .option('--model-thinking <name>', 'model for planning (default: as -m)')
    .option('--budget <usd>', 'let this run cost at most this many US$', usdArgument)
    .option('--requests <n>', 'let this run send at most this many requests', positiveInteger)
    .passThroughOptions()
    .action(
      async (
        name: ClientName,
        given: string[],
        {
          model,
          modelSmall: small,
          modelThinking: thinking,
          login: isForced = false,
          mask: asked,
          budget,
          requests,
        }: RunOptions,
        command: Command,
      ) => {
        const { mask, own } = takeMask(given, asked);
        const options = { ...commonOptions(command), ...(mask === undefined ? {} : { mask }) };
        const { settings, conflicts, loginConflicts = [], headersVariable, install = '' } = clientOf(name);
        refuseRoles(name, { small, thinking });
        const requested = model ?? (io.env.GATEWAY_MODEL || undefined);
        const wanted = wantedLogin(name, { model: requested, isForced }, io);
        if (wanted === undefined) await offerConfiguration(options, io);
        const gateway = await agentGateway(options, io, wanted);
        try {
          const { url, proof, started } = gateway;
          const run: Run = { id: `run-${randomBytes(6).toString('hex')}`, budget, requests };
          const key = toRunKey(gateway.key, run);
          if (started !== undefined && options.quiet !== true && io.stderr.isTTY === true) {
            const { configurationUsed } = await import('./serve/banner.ts');
            const log = `its log is ${started.log}`;
            await note(`gateway ${url} for ${name}: ${configurationUsed(started.loaded)}; ${log}\n`, io);
          }
          const isOwn = requested === undefined && own.some((word) => /^(?:-m|--model(?:=.*)?)$/.test(word));
          const address = { url, key, proof };
          const { agentModels, defaultModel } = gateway.models;
          const models = modelsFor(name, { main: requested, small, thinking }, { isOwn, named: agentModels });
          const namesModel = isOwn || models.main !== undefined;
          // An agent would wait without a word for a gateway that is not there, and show a wrong key as a failed login.
          const signal = deadline(io.signal, options.timeout ?? answerSeconds);
          const login = await usesLogin(address, { name, model: models.main, isForced, signal }).catch(
            ofOlder,
          );
          const isLimited = budget !== undefined || requests !== undefined;
          await refuseBypass(name, { url, namesModel, login, isLimited }, io);
          const choice = { name, models, isOwn, defaultModel, signal };
          const chosen = await chooseModels(address, choice, io).catch(ofOlder);
          const limits = await readModelLimits(address, chosen.models.main, signal);
          if (options.quiet !== true) await warn([...chosen.notices, ...(await switchedOff(name, io))], io);
          const catalogue = login
            ? undefined
            : await catalogueFor(name, { model: chosen.models.main, limits }, io);
          const target = { url, key, models: chosen.models, limits, login, catalogue };
          const headers = headersVariable === undefined ? undefined : io.env[headersVariable];
          const clouds = name === 'claude' ? Object.keys(io.env).filter(isCloudSwitch) : [];
          const { arguments: before = [], ...set } = writeFiles(name, settings({ ...target, headers }), io);
          const env = {
            ...set.defaults,
            ...inherited(io, [...conflicts, ...(login ? loginConflicts : []), ...clouds]),
            ...pastProxies(url, io.env),
          };
          const variables = { GATEWAY_URL: url, GATEWAY_KEY: key, ...set.variables };
          const agent = { name, arguments: [...before, ...own], env: { ...env, ...variables }, install };
          const isOurs = proof !== undefined;
          const ended = new AbortController();
          const isWatched = isOurs && isLimited && options.quiet !== true;
          const watching = isWatched
            ? (await import('./run/watch-run.ts')).watchRun(run, options, io, ended.signal)
            : undefined;
          const startedMs = Date.now();
          const exit = await startAgent(agent, io).finally(() => ended.abort());
          await watching;
          // Another gateway's records are not at hand.
          const isQuestion = own.some((word) => /^(?:-[hvV]|--help|--version)$/.test(word));
          if (isOurs && options.quiet !== true && !io.env.GATEWAY_URL && !isQuestion) {
            const { noteRun } = await import('./run/note-run.ts');
            await noteRun({ id: run.id, agent: name, startedMs }, options, io);
          }
          throw new QuietExit(exit);
        } finally {
          await gateway.stop();
        }
      },
    );
}

/** A gateway that doesn't know the keys of runs takes one for another key. */
function ofOlder(error: unknown): never {
  if (!(error instanceof GatewayError) || error.code !== 'key.invalid') throw error;
  const advice = 'if the key is right, that gateway is older than this command: restart it';
  throw new GatewayError(error.code, `${error.message}; ${advice}`, { requestId: error.requestId });
}

/** The file that Codex needs to know a model; undefined for other agents, and with a login, whose models it fetches. */
async function catalogueFor(
  agent: ClientName,
  { model, limits }: { readonly model: string | undefined; readonly limits: ModelLimits },
  io: Io,
): Promise<string | undefined> {
  if (agent !== 'codex' || model === undefined) return undefined;
  const { writeCodexCatalogue } = await import('./agents/codex-catalogue.ts');
  return writeCodexCatalogue({ name: model, limits }, io);
}

function refuseRoles(name: ClientName, asked: Pick<AgentModels, 'small' | 'thinking'>): void {
  const { roles = [] } = clientOf(name);
  for (const role of ['small', 'thinking'] as const) {
    if (asked[role] === undefined || roles.includes(role)) continue;
    const task = role === 'small' ? 'small tasks' : 'planning';
    throw new GatewayError('usage.invalid', `--model-${role}: ${name} has no other model for ${task}`);
  }
}

/**
 * `--mask` right behind the agent's name is meant for the gateway too, since no agent has such an option; and `--` there
 * only says that the agent's own arguments begin.
 */
function takeMask(
  given: readonly string[],
  asked: readonly DetectorName[] | undefined,
): { readonly mask: readonly DetectorName[] | undefined; readonly own: readonly string[] } {
  const [first = '', second = ''] = given;
  if (first === '--') return { mask: asked, own: given.slice(1) };
  if (first.startsWith('--mask=')) return { mask: detectorList(first.slice(7), asked), own: given.slice(1) };
  return first === '--mask'
    ? { mask: detectorList(second, asked), own: given.slice(2) }
    : { mask: asked, own: given };
}

async function warn(notices: readonly string[], io: Io): Promise<void> {
  for (const notice of notices) await note(`gateway: ${notice}\n`, io);
}

/** Other clouds that the user has switched on, which the agent doesn't get to know. */
async function switchedOff(name: ClientName, { env }: Io): Promise<readonly string[]> {
  if (name !== 'claude') return [];
  const { cloudsOf } = await import('./doctor/check-claude.ts');
  return cloudsOf(env).map(
    (variable) => `${variable} is off for ${name}, whose requests go through the gateway`,
  );
}

/** The environment without the variables that would point the agent elsewhere. */
function inherited({ env }: Io, conflicts: readonly string[]): Io['env'] {
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !conflicts.includes(variable)));
}

interface Settled {
  readonly url: string;
  readonly namesModel: boolean;
  readonly login: boolean;
  readonly isLimited: boolean;
}

/**
 * Throws agent.failed if an agent's own settings files would make it bypass the gateway, even with the variables that
 * are set for it, or with another key, without the run's limits.
 */
async function refuseBypass(
  name: ClientName,
  { url, namesModel, login, isLimited }: Settled,
  io: Io,
): Promise<void> {
  const fault = (await checkAgent()).find(({ status }) => status === 'error');
  if (fault === undefined) return;
  throw new GatewayError(
    'agent.failed',
    `${name} would not use the gateway: ${fault.message}; ${fault.remedy}`,
  );

  async function checkAgent(): Promise<readonly Diagnosis[]> {
    if (name === 'claude') {
      const { checkClaude, checkClaudeKey, checkClaudeLogin } = await import('./doctor/check-claude.ts');
      return [
        ...checkClaude(io, url),
        ...(login ? checkClaudeLogin(io) : []),
        ...(isLimited ? checkClaudeKey(io) : []),
      ];
    }
    if (name === 'codex') {
      const { checkCodexKey, checkCodexOverrides } = await import('./doctor/check-codex.ts');
      return [...checkCodexOverrides(io, url), ...(isLimited ? checkCodexKey(io) : [])];
    }
    if (name === 'gemini') return (await import('./doctor/check-gemini.ts')).checkGemini(io);
    if (name === 'qwen') return (await import('./doctor/check-qwen.ts')).checkQwen(io);
    if (name !== 'opencode') return [];
    const { checkManagedOpencode, checkOpencode } = await import('./doctor/check-opencode.ts');
    // A model on the command line overrides that of the files, except the administrator's.
    return namesModel ? checkManagedOpencode(io, url) : checkOpencode(io, url);
  }
}

interface AgentStart {
  readonly name: string;
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How to install it. */
  readonly install: string;
}

/**
 * Starts an agent on this process's own streams and waits for it to exit. Returns its exit code, or 128 plus the number
 * of the signal, as a shell does. Throws agent.missing (127) and agent.failed (126).
 */
export async function startAgent(agent: AgentStart, io: Io): Promise<number> {
  io.signal.throwIfAborted();
  let child: ChildProcess | undefined;
  // Before the start, so that no signal in between can end this process and orphan the agent.
  const release = io.captureSignals((name) => {
    if (!isFromTerminal(name)) child?.kill(name);
  });
  try {
    return await new Promise((resolve, reject) => {
      child = spawn(agent.name, agent.arguments, { stdio: 'inherit', env: agent.env, cwd: io.cwd });
      child.once('error', (cause) => reject(failedStart(agent, cause)));
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    release();
  }
}

/**
 * The terminal sends Ctrl-C to the agent itself; many programs take a second one as "stop at once". Does not use
 * io.stdin, because opening it would make a pipe non-blocking for the agent.
 */
function isFromTerminal(name: CapturedSignal): boolean {
  return name === 'SIGINT' && isatty(0);
}

function failedStart({ name, install }: AgentStart, cause: Error): GatewayError {
  const { code } = cause as NodeJS.ErrnoException; // what spawn emits
  if (code !== 'ENOENT')
    return new GatewayError('agent.failed', `${name} can't be started: ${cause.message}`, { cause });
  return new GatewayError(
    'agent.missing',
    `${name} is not installed, or not on PATH; to get it: ${install}`,
    {
      cause,
    },
  );
}
