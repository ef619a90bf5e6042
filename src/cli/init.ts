import { linkSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { trustFile } from '../client/trusted-files.ts';
import { namedPath } from '../config/source/find.ts';
import { realPathOf } from '../config/source/real-path.ts';
import { GatewayError } from '../errors.ts';
import type { DetectorName } from '../policy/detectors/names.ts';
import type { FoundProvider } from './init/find-clouds.ts';
import { askMany, askYes, canAsk } from './shell/ask.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  detectorList,
  outputFormat,
} from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { inspectValidConfig } from './shell/load-config.ts';
import { note, print } from './shell/print/print.ts';
import { withSpinner } from './shell/spinner.ts';

interface InitOptions extends CommonOptions {
  readonly provider?: readonly string[];
  readonly local?: readonly string[];
  readonly project?: string;
  readonly mask?: readonly DetectorName[];
  /** False with --no-policy. */
  readonly policy: boolean;
  readonly force?: true;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'init',
    summary:
      'write gateway.yaml from keys in the environment, credentials of clouds and model servers that run here',
    examples: [
      'gateway init',
      'gateway init --provider anthropic --provider ollama --no-input',
      'gateway init -c staging.yaml --project shop --mask secrets,email -o json',
    ],
  })
    .option('--provider <provider>', 'use this one, found or not; may be repeated', collect)
    .option(
      '--local <address>',
      'also look for an OpenAI-compatible server there; may be repeated',
      addresses,
    )
    .option(
      '--project <project>',
      'create a project with a key, instead of the key that serve generates',
      projectName,
    )
    .option(
      '--mask <detectors>',
      'what the policy keeps from leaving and restores in answers (default: secrets,private_key)',
      detectorList,
    )
    .option('--no-policy', 'leave out the policy that masks secrets')
    .option('--force', 'replace an existing file')
    .action(async (_options: unknown, command: Command) => {
      const format = outputFormat(command, ['text', 'json']);
      await init(commonOptions(command) as InitOptions, format, io);
    });
}

/** Throws usage.invalid where a file is already there and must stay. */
export async function init(options: InitOptions, format: 'text' | 'json', io: Io): Promise<void> {
  const file = namedPath(options.config ?? 'gateway.yaml', io);
  const mayReplace = options.force === true || (isThere(file) && (await askToReplace(file, options, io)));
  if (isThere(file) && !mayReplace) {
    throw new GatewayError('usage.invalid', `${file} already exists; --force replaces it, -c names another`);
  }
  const { findProviders } = await import('./init/find-providers.ts');
  const found = await withSpinner('looking for keys and model servers', options, io, () =>
    findProviders(io.env, options.local ?? []),
  );
  const chosen = await chooseProviders(found, options, io);
  const { configText, nextSteps } = await import('./init/config-text.ts');
  const { project, policy, mask = ['secrets', 'private_key'] } = options;
  const { generateKey, hashKey } = await import('../config/build/keys.ts');
  const key = project === undefined ? undefined : generateKey();
  const keyed =
    project !== undefined && key !== undefined ? { project, hash: `sha256:${hashKey(key)}` } : undefined;
  const text = configText({ providers: chosen, masks: policy ? mask : [], keyed });
  await writeConfig(file, text, { mayReplace, io });
  if (format === 'json') {
    const result = {
      path: file,
      providers: chosen.map(({ name }) => name),
      project: project ?? null,
      key: key ?? null,
    };
    return print(`${JSON.stringify(result)}\n`, io);
  }
  await print(`${file}\n${key === undefined ? '' : `GATEWAY_KEY=${key}\n`}`, io);
  if (options.quiet === true || io.stderr.isTTY !== true) return;
  await note(nextSteps({ file, text, chosen, hasKey: key !== undefined }), io);
}

async function askToReplace(file: string, options: InitOptions, io: Io): Promise<boolean> {
  if (!canAsk(options, io)) return false;
  if (await askYes(`${file} already exists. Replace it?`, io)) return true;
  throw new GatewayError('interrupted', 'nothing was done');
}

/** The providers to write: as named, else as chosen by a person, else all that were found. */
async function chooseProviders(
  found: readonly FoundProvider[],
  options: InitOptions,
  io: Io,
): Promise<readonly FoundProvider[]> {
  const { provider: named } = options;
  // Without any provider the file has the sandbox.
  if (named !== undefined)
    return named.filter((name) => name !== 'sandbox').map((name) => providerOf(name, found));
  const present = found.filter(({ isFound, isAmbiguous }) => isFound && isAmbiguous !== true);
  if (!canAsk(options, io)) {
    const leftOut = found.flatMap((one) => whyLeftOut(one) ?? []);
    for (const why of options.quiet === true ? [] : leftOut) await note(`gateway: ${why}\n`, io);
    return present;
  }
  const choices = found.map(({ name, note }) => ({ value: name, label: name, hint: note }));
  const initial = present.map(({ name }) => name);
  const picked = await askMany(
    'Which providers? (Space selects, Enter continues; none means the sandbox)',
    { choices, initial },
    io,
  );
  return found.filter(({ name }) => picked.includes(name));
}

function whyLeftOut({ name, note, isFound, isLate, isAmbiguous }: FoundProvider): string | undefined {
  if (isLate === true)
    return `${note}, so it is left out; gateway init --force looks again, and --provider ${name} takes it as it is`;
  if (!isFound || isAmbiguous !== true) return undefined;
  return `${name} is left out, although ${note}; gateway init --force --provider ${name} takes it`;
}

function providerOf(name: string, known: readonly FoundProvider[]): FoundProvider {
  const provider = known.find((one) => one.name === name);
  if (provider !== undefined) return provider;
  const names = ['sandbox', ...known.map((one) => one.name)].join(', ');
  throw new GatewayError('usage.invalid', `there is no provider ${name} to set up; known are ${names}`, {
    param: 'provider',
  });
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return before.includes(text) ? before : [...before, text];
}

function addresses(text: string, before: readonly string[] = []): readonly string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.search === '' &&
    url.hash === '';
  if (!isPlain) throw new InvalidArgumentError('expected an address such as http://127.0.0.1:8080/v1');
  return collect(text.replace(/\/+$/, ''), before);
}

function projectName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,57}$/.test(text)) return text;
  throw new InvalidArgumentError('expected at most 58 letters, digits, dots, dashes and underscores');
}

export function isThere(file: string): boolean {
  try {
    return lstatSync(file) !== undefined;
  } catch {
    return false; // writing will report the reason
  }
}

interface Writing {
  readonly mayReplace: boolean;
  readonly io: Io;
}

/** Writes a configuration that only this user can read, after validating it. Throws output.failed. */
async function writeConfig(file: string, text: string, { mayReplace, io }: Writing): Promise<void> {
  const draft = `${file}.${process.pid}.new.yaml`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    const { wants } = await inspectValidConfig({ config: draft }, io, {
      withoutUserFile: true,
      namedAs: file,
    });
    // Unlike a rename, a link fails if somebody has created the file meanwhile.
    if (mayReplace) renameSync(draft, file);
    else linkSync(draft, file);
    if (wants.length > 0) trustFile(io.env, realPathOf(file), wants);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const { code = '', message } = cause as NodeJS.ErrnoException; // of the file system
    throw new GatewayError('output.failed', `${file} can't be written: ${code || message}`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
