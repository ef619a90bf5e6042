import { type Command, InvalidArgumentError } from 'commander';
import { isAlive, readRunning } from '../../client/address.ts';
import { removeState } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { localKey, localKeyFile, localKeyName } from '../serve/kept-secrets.ts';
import { type CommonOptions, commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { inspectValidConfig } from '../shell/load-config.ts';
import { note, printValue } from '../shell/print/print.ts';
import type { EntryLines } from './remove-entry.ts';
import { replaceConfig, writeRefusal } from './write-config.ts';

interface Revoked {
  readonly id: string;
  readonly project: string;
  readonly file: string;
  readonly lines?: EntryLines;
  /** What is left to do. */
  readonly remark?: string | undefined;
}

export function buildRevoke(io: Io): Command {
  return createCommand({
    name: 'revoke',
    summary:
      'remove a key from gateway.yaml, which a running gateway follows; the rest of the file stays as it is',
    examples: [
      'gateway key revoke shop-web',
      'gateway key revoke shop-web --dry-run',
      'gateway key revoke local',
    ],
  })
    .argument('<key>', 'the id that "gateway key list" shows', (text: string) => {
      if (text.trim() === '') throw new InvalidArgumentError('expected an id');
      return text;
    })
    .option('--dry-run', 'show which lines would be removed')
    .action(async (id: string, { dryRun }: { readonly dryRun?: true }, command: Command) => {
      outputFormat(command, ['text', 'json']);
      const options = commonOptions(command);
      const revoked = await revoke(id, { ...options, dryRun: dryRun === true }, io);
      const { project, file, lines, remark } = revoked;
      const place = lines === undefined ? file : `${file}:${linesText(lines)}`;
      const done = dryRun === true ? 'would be removed from' : 'revoked:';
      const value = { ...revoked, dry_run: dryRun === true };
      await printValue(value, `${id} (${project}) ${done} ${place}\n`, options, io);
      if (remark !== undefined && options.quiet !== true) await note(`${remark}\n`, io);
    });
}

interface RevokeOptions extends CommonOptions {
  readonly dryRun: boolean;
}

async function revoke(id: string, { dryRun, ...options }: RevokeOptions, io: Io): Promise<Revoked> {
  const { config, found, settings, text, name } = await inspectValidConfig(options, io);
  if (config.needsLocalKey) return revokeLocal(id, dryRun, io);
  for (const [project, { keys }] of Object.entries(settings?.projects ?? {})) {
    const index = keys.findIndex((key) => key.id === id);
    const key = keys[index];
    if (key === undefined || found === undefined) continue;
    const { removeEntry } = await import('./remove-entry.ts');
    const removal = removeEntry(text, ['projects', project, 'keys'], index);
    if (removal?.text === undefined) throw byHand(id, found.path, removal?.lines);
    if (!dryRun) await replaceConfig(found.path, removal.text, io);
    const holder =
      key.hash === undefined ? `the key itself is still in ${key.file ?? 'the environment'}` : undefined;
    const refusal = dryRun ? undefined : await writeRefusal(found.path, io);
    const kept = refusal && `the running gateway still accepts the key: ${refusal}`;
    return { id, project, file: name, lines: removal.lines, remark: kept ?? holder };
  }
  throw new GatewayError('key.unknown', `${name} has no key ${id}; "gateway key list" lists them`);
}

function revokeLocal(id: string, dryRun: boolean, { env }: Io): Revoked {
  if (id !== 'local' || localKey.read(env) === undefined) {
    throw new GatewayError('key.unknown', `there is no key ${id}; "gateway key list" lists them`);
  }
  if (!dryRun) removeState(env, localKeyName);
  const running = readRunning(env);
  const isInUse = running?.key !== undefined && isAlive(running.pid);
  return {
    id,
    project: 'local',
    file: localKeyFile(env),
    remark: isInUse ? 'the running gateway accepts it until it stops: gateway stop' : undefined,
  };
}

function byHand(id: string, path: string, lines: EntryLines | undefined): GatewayError {
  const where = lines === undefined ? path : `${path}:${linesText(lines)}`;
  const why = 'it shares its text with other entries, or comes from elsewhere';
  return new GatewayError(
    'usage.invalid',
    `key ${id} can't be removed by itself (${why}); remove it by hand: ${where}`,
  );
}

function linesText({ first, last }: EntryLines): string {
  return first === last ? String(first) : `${first}-${last}`;
}
