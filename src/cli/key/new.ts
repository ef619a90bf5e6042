import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { generateKey, hashKey } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import type { Inspection } from '../../config/load.ts';
import { parseExpiry } from '../../config/schema/units.ts';
import { GatewayError } from '../../errors.ts';
import { type LimitName, limitNames, limitTable } from '../../limits/limit-table.ts';
import { localKey } from '../serve/kept-secrets.ts';
import { commonOptions, createCommand, outputFormat, usdArgument } from '../shell/command.ts';
import { type Io, write } from '../shell/io.ts';
import { inspectValidConfig } from '../shell/load-config.ts';
import { note, printValue } from '../shell/print/print.ts';
import { replaceConfig, whatGatewayDid } from './write-config.ts';

type NewOptions = {
  readonly project?: string;
  readonly expires?: string;
  readonly id?: string;
  readonly local?: true;
  readonly write?: true;
} & { readonly [Name in LimitOption]?: number };

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
type LimitOption = Camel<LimitName>;

export function buildNew(io: Io): Command {
  const command = createCommand({
    name: 'new',
    summary: 'create a key; it is printed once, and only its hash goes into gateway.yaml',
    examples: [
      'gateway key new --project shop',
      'gateway key new --project shop --usd-per-month 20 --expires 2027-06-30 --write',
      'gateway key new --local --write',
    ],
  })
    .option('--project <name>', 'project of the key, made if there is none of this name', nameArgument)
    .option(
      '--expires <date>',
      'last day it is valid (2027-06-30, in UTC), or a time (2027-06-30T12:00:00Z)',
      expiryArgument,
    )
    .option('--id <name>', 'its id in records (default: derived from the project)', nameArgument)
    .option(
      '--write',
      'add the key to gateway.yaml, which a running gateway follows, and leave the rest as it is',
    )
    .addOption(
      new Option(
        '--local',
        "take the key that this user's own commands send, instead of a new one (project: local)",
      ).conflicts('expires'),
    );
  for (const name of limitNames) command.addOption(limitOption(name));
  return command.action(async (options: NewOptions, given: Command) => {
    await createKey(options, given, io);
  });
}

function limitOption(name: LimitName): Option {
  const { unit, words } = limitTable[name];
  const what = unit === 'nanoUsd' ? `US$ ${words}` : words;
  return new Option(`--${name.replaceAll('_', '-')} <number>`, `limit of ${what}`).argParser(
    unit === 'nanoUsd' ? usdArgument : countArgument,
  );
}

async function createKey(options: NewOptions, command: Command, io: Io): Promise<void> {
  const format = outputFormat(command, ['text', 'json']);
  const common = commonOptions(command);
  const isLocal = options.local === true;
  const project = options.project ?? (isLocal ? 'local' : undefined);
  const id =
    options.id ?? (isLocal ? 'local' : `${project?.slice(0, 58) ?? 'key'}-${randomBytes(2).toString('hex')}`);
  if (options.write === true && project === undefined) {
    throw new GatewayError('usage.invalid', '--write needs the --project that the key is for', {
      param: 'project',
    });
  }
  const target = options.write === true ? await inspectValidConfig(common, io) : undefined;
  const key = isLocal ? localKey.readOrMake(io.env) : generateKey();
  const hash = hashText(key);
  const entry = entryOf({ id, hash, options });
  const written = target && (await enter({ inspection: target, project: project ?? '', id, key, entry }, io));
  // Also in a pipe, unlike other notices: without this line the key is useless.
  if (format === 'text' && common.quiet !== true) {
    const where = project === undefined ? 'the keys of a project' : `projects.${project}.keys`;
    // A line to copy stays one line.
    if (written === undefined) await write(io.stderr, `add to ${where} in gateway.yaml:\n- ${entry}\n`);
    else await note(written.notice, io);
  }
  const value = {
    id,
    key: isLocal ? null : key,
    hash,
    project: project ?? null,
    expires: options.expires ?? null,
    yaml: `- ${entry}`,
    file: written?.file ?? null,
  };
  await printValue(value, isLocal ? '' : `${key}\n`, common, io);
}

interface Entry {
  readonly id: string;
  readonly hash: string;
  readonly options: NewOptions;
}

/** One line of YAML. */
function entryOf({ id, hash, options }: Entry): string {
  const limits = limitNames.flatMap((name) => {
    const amount = options[optionOf(name)];
    return amount === undefined ? [] : [`${name}: ${amount}`];
  });
  const members = [
    // In quotes where YAML would not read it as text: 42, null, true, on.
    `id: ${/^[A-Za-z]/.test(id) && !/^(?:null|true|false|yes|no|on|off|y|n)$/i.test(id) ? id : JSON.stringify(id)}`,
    `hash: "${hash}"`,
    ...(options.expires === undefined ? [] : [`expires: ${options.expires}`]),
    ...(limits.length === 0 ? [] : [`limits: { ${limits.join(', ')} }`]),
  ];
  return `{ ${members.join(', ')} }`;
}

function optionOf(name: LimitName): LimitOption {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as LimitOption; // as commander does
}

interface Entering {
  readonly inspection: Inspection & { readonly config: Config };
  readonly project: string;
  readonly id: string;
  readonly key: string;
  readonly entry: string;
}

async function enter(
  { inspection, project, id, key, entry }: Entering,
  io: Io,
): Promise<{ readonly file: string; readonly notice: string }> {
  const { found, settings, config, text, name } = inspection;
  if (found === undefined) {
    throw new GatewayError('usage.invalid', 'there is no gateway.yaml to write to; "gateway init" makes one');
  }
  const known = config.needsLocalKey ? undefined : config.keys.find(key);
  if (known !== undefined) {
    const message = `the local key is in ${name} already: ${known.id}, of project ${known.project}`;
    throw new GatewayError('usage.invalid', message, { param: 'local' });
  }
  const all = Object.values(settings?.projects ?? {}).flatMap(({ keys }) => keys);
  if (all.some((other) => other.id === id)) {
    throw new GatewayError('usage.invalid', `${name} has a key ${id} already; --id names another`, {
      param: 'id',
    });
  }
  const { appendEntry } = await import('./edit-yaml.ts');
  const edited = appendEntry(text, ['projects', project, 'keys'], entry);
  if (edited === undefined) {
    const message = `no key can be added to projects.${project}.keys of ${name} because the list comes from elsewhere in the file (an alias, or a merge); add it by hand: - ${entry}`;
    throw new GatewayError('usage.invalid', message);
  }
  await replaceConfig(found.path, edited, io);
  const lines = [`${id} (${project}) is in ${name}; ${await whatGatewayDid(found.path, edited, io)}`];
  if (config.needsLocalKey && config.keys.size === 0 && !isOwn(key, io)) {
    lines.push(
      `${name} has projects now, so the local key is no longer valid: for your own commands, gateway key new --local --write`,
    );
  }
  return { file: name, notice: lines.map((line) => `${line}\n`).join('') };
}

function isOwn(key: string, { env }: Io): boolean {
  return localKey.read(env) === key;
}

export function hashText(key: string): string {
  return `sha256:${hashKey(key)}`;
}

function nameArgument(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('expected at most 64 letters, digits, dots, dashes and underscores');
}

function expiryArgument(text: string): string {
  const atMs = parseExpiry(text);
  if (atMs === undefined) throw new InvalidArgumentError('expected 2027-06-30 or 2027-06-30T12:00:00Z');
  if (atMs <= Date.now()) throw new InvalidArgumentError('that is in the past');
  return text;
}

function countArgument(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number above 0');
}
