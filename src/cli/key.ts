import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { refuseForeignState } from '../client/state.ts';
import { generateKey, hashKey, parseKey } from '../config/build/keys.ts';
import type { Inspection } from '../config/load.ts';
import type { KeySettings } from '../config/schema/schema.ts';
import { parseExpiry } from '../config/schema/units.ts';
import { GatewayError } from '../errors.ts';
import { buildRevoke } from './key/revoke.ts';
import { localKey, localKeyFile } from './serve/kept-secrets.ts';
import { commonOptions, createCommand, outputFormat } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';
import { inspectValidConfig } from './shell/load-config.ts';
import { printValue } from './shell/print/print.ts';
import { type Listing, printList } from './shell/print/table.ts';

export function build(io: Io): Command {
  const command = createCommand({
    name: 'key',
    summary: 'create, list and revoke project keys, show the local one',
    examples: [
      'gateway key new --project shop',
      'gateway key new --expires 2027-06-30 -o json',
      'gateway key revoke shop-web',
    ],
  });
  return command
    .addCommand(buildNew(io))
    .addCommand(buildList(io))
    .addCommand(buildShow(io))
    .addCommand(buildRevoke(io))
    .addCommand(buildHash(io));
}

interface NewOptions {
  readonly project?: string;
  readonly expires?: string;
  readonly id?: string;
}

function buildNew(io: Io): Command {
  return createCommand({
    name: 'new',
    summary: 'create a key; it is printed once, and only its hash goes into gateway.yaml',
    examples: [
      'gateway key new',
      'gateway key new --project shop --expires 2027-06-30',
      'gateway key new -o json',
    ],
  })
    .option('--project <name>', 'project it is for', nameArgument)
    .option(
      '--expires <date>',
      'last day it is valid (2027-06-30, in UTC), or a time (2027-06-30T12:00:00Z)',
      expiryArgument,
    )
    .option('--id <name>', 'its id in records (default: derived from the project)', nameArgument)
    .action(async ({ project, expires, id }: NewOptions, command: Command) => {
      const format = outputFormat(command, ['text', 'json']);
      const options = commonOptions(command);
      const key = generateKey();
      const hash = hashText(key);
      const keyId = id ?? `${project?.slice(0, 58) ?? 'key'}-${randomBytes(2).toString('hex')}`;
      const line = `- { id: ${keyId}, hash: "${hash}"${expires === undefined ? '' : `, expires: ${expires}`} }`;
      // Also in a pipe, unlike other notices: without this line the key is useless.
      if (format === 'text' && options.quiet !== true) {
        const where = project === undefined ? 'the keys of a project' : `projects.${project}.keys`;
        await write(io.stderr, `add to ${where} in gateway.yaml:\n${line}\n`);
      }
      const value = {
        id: keyId,
        key,
        hash,
        project: project ?? null,
        expires: expires ?? null,
        yaml: line,
      };
      await printValue(value, `${key}\n`, options, io);
    });
}

function buildShow(io: Io): Command {
  return createCommand({
    name: 'show',
    summary: 'print the key that the gateway made for this user, if no projects are configured',
    examples: ['gateway key show', 'gateway key show --yes | pbcopy', 'gateway key show --yes -o json'],
  })
    .option('--yes', 'print it even if the output is not a terminal')
    .action(async ({ yes }: { readonly yes?: true }, command: Command) => {
      outputFormat(command, ['text', 'json']);
      const options = commonOptions(command);
      const key = localKey.read(io.env);
      const file = localKeyFile(io.env);
      if (key === undefined) {
        refuseForeignState(io.env);
        throw new GatewayError(
          'key.unknown',
          `there is no key in ${file}: "gateway serve" makes one unless projects are configured`,
        );
      }
      if (io.stdout.isTTY !== true && yes !== true) {
        const message = 'a key is shown on a terminal only; --yes prints it anywhere';
        throw new GatewayError('usage.invalid', message, { param: 'yes' });
      }
      if (options.quiet !== true && io.stderr.isTTY === true) {
        await write(io.stderr, `from ${file}\n`);
      }
      await printValue({ key, file }, `${key}\n`, options, io);
    });
}

function buildHash(io: Io): Command {
  return createCommand({
    name: 'hash',
    summary: 'read a key from standard input and print its hash',
    examples: [
      'gateway key hash < key.txt',
      'printf %s "$KEY" | gateway key hash',
      'gateway key hash -o json < key.txt',
    ],
  }).action(async (_options: unknown, command: Command) => {
    outputFormat(command, ['text', 'json']);
    if (io.stdin.isTTY) {
      throw new GatewayError('usage.invalid', 'the key is read from standard input: gateway key hash < FILE');
    }
    const key = (await readShort(io)).replace(/\r?\n$/, '');
    if (!/^[\x21-\x7e]{16,512}$/.test(key)) {
      throw new GatewayError(
        'usage.invalid',
        'expected one key of at least 16 visible characters on standard input',
      );
    }
    if (parseKey(key) === 'damaged') {
      throw new GatewayError('usage.invalid', 'the key is truncated or mistyped: its checksum is wrong');
    }
    const hash = hashText(key);
    await printValue({ hash }, `${hash}\n`, commonOptions(command), io);
  });
}

const largestInput = 4096;

async function readShort({ stdin }: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > largestInput)
      throw new GatewayError('usage.invalid', 'standard input holds more than a key');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function hashText(key: string): string {
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

/** A key without its value. */
interface ListedKey {
  readonly id: string;
  readonly project: string;
  readonly state: 'usable' | 'expired' | 'not set';
  readonly expires: string | null;
  /** How the file specifies it: by hash, variable or file. */
  readonly from: string;
}

const listing: Listing<ListedKey> = {
  header: ['ID', 'PROJECT', 'STATE', 'EXPIRES', 'FROM'],
  row: ({ id, project, state, expires, from }) => [id, project, state, expires ?? '', from],
};

function buildList(io: Io): Command {
  return createCommand({
    name: 'list',
    summary: 'list the keys of all projects, never their values',
    examples: [
      'gateway key list',
      'gateway key list --project shop',
      'gateway key list -o json | jq -r \'.[] | select(.state == "expired").id\'',
    ],
  })
    .option('--project <project>', 'only keys of this project')
    .action(async ({ project }: { readonly project?: string }, command: Command) => {
      outputFormat(command, ['text', 'json', 'ndjson', 'yaml', 'table']);
      const options = commonOptions(command);
      const inspection = await inspectValidConfig(options, io);
      const keys = inspection.config.needsLocalKey ? localKeys(io) : configuredKeys(inspection, Date.now());
      const chosen = keys.filter((key) => project === undefined || key.project === project);
      await printList([chosen], listing, options, io);
    });
}

function localKeys({ env }: Io): ListedKey[] {
  if (localKey.read(env) === undefined) return [];
  return [{ id: 'local', project: 'local', state: 'usable', expires: null, from: localKeyFile(env) }];
}

function configuredKeys({ settings, config, references }: Inspection, nowMs: number): ListedKey[] {
  const read = new Set([...(config?.keys.records() ?? [])].map(({ id }) => id));
  const variableAt = (path: readonly PropertyKey[]) =>
    references.find((reference) => reference.path.join('\0') === path.join('\0'))?.names.join(', ');
  return Object.entries(settings?.projects ?? {}).flatMap(([project, { keys }]) =>
    keys.map((key, i): ListedKey => {
      const { id, expires } = key;
      const hasExpired = expires !== undefined && (parseExpiry(expires) ?? 0) <= nowMs;
      const state = !read.has(id) ? 'not set' : hasExpired ? 'expired' : 'usable';
      const variable = variableAt(['projects', project, 'keys', i, 'value']);
      return { id, project, state, expires: expires ?? null, from: originOf(key, variable) };
    }),
  );
}

function originOf({ hash, file }: KeySettings, variable: string | undefined): string {
  if (hash !== undefined) return 'hash';
  return file === undefined ? `$${variable ?? ''}` : file;
}
