import type { Command } from 'commander';
import { refuseForeignState } from '../client/state.ts';
import { parseKey } from '../config/build/keys.ts';
import type { Inspection } from '../config/load.ts';
import type { KeySettings } from '../config/schema/schema.ts';
import { parseExpiry } from '../config/schema/units.ts';
import { GatewayError } from '../errors.ts';
import { buildNew, hashText } from './key/new.ts';
import { buildRevoke } from './key/revoke.ts';
import { buildRotate } from './key/rotate.ts';
import { localKey, localKeyFile } from './serve/kept-secrets.ts';
import { commonOptions, createCommand, outputFormat } from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { inspectValidConfig } from './shell/load-config.ts';
import { note, printValue } from './shell/print/print.ts';
import { type Listing, printList } from './shell/print/table.ts';

export function build(io: Io): Command {
  const command = createCommand({
    name: 'key',
    summary: 'create, rotate, list and revoke project keys, show the local one',
    examples: [
      'gateway key new --project shop --usd-per-month 20 --write',
      'gateway key rotate shop-web --grace 24h',
      'gateway key revoke shop-web',
    ],
  });
  return command
    .addCommand(buildNew(io))
    .addCommand(buildList(io))
    .addCommand(buildShow(io))
    .addCommand(buildRotate(io))
    .addCommand(buildRevoke(io))
    .addCommand(buildHash(io));
}

function buildShow(io: Io): Command {
  return createCommand({
    name: 'show',
    summary: 'print the key that the gateway made for this user',
    examples: ['gateway key show', 'gateway key show | pbcopy', 'gateway key show -o json'],
  }).action(async (_options: unknown, command: Command) => {
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
    if (options.quiet !== true && io.stderr.isTTY === true) {
      await note(`from ${file}\n`, io);
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

const maxInputBytes = 4096;

async function readShort({ stdin }: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxInputBytes)
      throw new GatewayError('usage.invalid', 'standard input holds more than a key');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A key without its value. */
interface ListedKey {
  readonly id: string;
  readonly project: string;
  readonly state: 'usable' | 'expired' | 'not set';
  readonly expires: string | null;
  /** Until when a key that it replaced is accepted. */
  readonly previous_until: string | null;
  /** How the file specifies it: by hash, variable or file. */
  readonly from: string;
}

const listing: Listing<ListedKey> = {
  header: ['ID', 'PROJECT', 'STATE', 'EXPIRES', 'FROM', 'OLD KEY UNTIL'],
  row: ({ id, project, state, expires, from, previous_until: until }) => [
    id,
    project,
    state,
    expires ?? '',
    from,
    until ?? '',
  ],
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
  return [
    {
      id: 'local',
      project: 'local',
      state: 'usable',
      expires: null,
      previous_until: null,
      from: localKeyFile(env),
    },
  ];
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
      return {
        id,
        project,
        state,
        expires: expires ?? null,
        previous_until: lastOf(
          key.previous.map((previous) => previous.expires),
          nowMs,
        ),
        from: originOf(key, variable),
      };
    }),
  );
}

/** The last of these times that is still to come. */
function lastOf(times: readonly string[], nowMs: number): string | null {
  const msOf = (time: string) => parseExpiry(time) ?? 0;
  const open = times.filter((time) => msOf(time) > nowMs);
  return open.toSorted((one, other) => msOf(other) - msOf(one))[0] ?? null;
}

function originOf({ hash, file }: KeySettings, variable: string | undefined): string {
  if (hash !== undefined) return 'hash';
  return file === undefined ? `$${variable ?? ''}` : file;
}
