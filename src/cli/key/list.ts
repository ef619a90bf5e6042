import type { Command } from 'commander';
import type { Inspection } from '../../config/load.ts';
import type { KeySettings } from '../../config/schema/schema.ts';
import { parseExpiry } from '../../config/schema/units.ts';
import { localKey, localKeyFile } from '../serve/kept-secrets.ts';
import { commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { inspectValidConfig } from '../shell/load-config.ts';
import { type Listing, printList } from '../shell/print/listing.ts';

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

export function buildList(io: Io): Command {
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
