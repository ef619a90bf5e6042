import { type Command, InvalidArgumentError, Option } from 'commander';
import { generateKey } from '../../config/build/keys.ts';
import type { KeySettings } from '../../config/schema/schema.ts';
import { parseExpiry } from '../../config/schema/units.ts';
import { GatewayError } from '../../errors.ts';
import { localKey } from '../serve/kept-secrets.ts';
import { commonOptions, createCommand, durationArgument, outputFormat } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { inspectValidConfig } from '../shell/load-config.ts';
import { note, printValue } from '../shell/print/print.ts';
import type { YamlPath } from './edit-yaml.ts';
import { hashText } from './new.ts';
import { replaceConfig, whatGatewayDid } from './write-config.ts';

const dayMs = 86_400_000;

export function buildRotate(io: Io): Command {
  return createCommand({
    name: 'rotate',
    summary:
      'make a new key under the same id, whose limits and usage go on; the old one is valid for a while',
    examples: [
      'gateway key rotate shop-web',
      'gateway key rotate shop-web --grace 7d',
      'gateway key rotate shop-web --grace 0 -o json',
    ],
  })
    .argument('<key>', 'the id that "gateway key list" shows', (text: string) => {
      if (text.trim() === '') throw new InvalidArgumentError('expected an id');
      return text;
    })
    .addOption(
      new Option('--grace <duration>', 'how long the old key stays valid, as 24h or 7d; 0 ends it at once')
        .argParser(graceArgument)
        .default(dayMs, '24h'),
    )
    .action(async (id: string, { grace }: { readonly grace: number }, command: Command) => {
      outputFormat(command, ['text', 'json']);
      const options = commonOptions(command);
      const { config, found, settings, text, name } = await inspectValidConfig(options, io);
      const place = findEntry(settings?.projects ?? {}, id);
      if (place === undefined || found === undefined) throw unknown(id, name, config.needsLocalKey);
      const { project, key: entry, path } = place;
      if (entry.hash === undefined) throw notHere(id, entry);
      const key = generateKey();
      const until = grace === 0 ? null : new Date(Date.now() + grace).toISOString();
      const edited = await editText({ text, path, entry, hash: hashText(key), until });
      if (edited === undefined) {
        const message = `key ${id} can't be changed by itself (it shares its text with other entries); change it by hand in ${name}`;
        throw new GatewayError('usage.invalid', message);
      }
      const own = localKey.read(io.env);
      const isOwn = own !== undefined && hashText(own) === entry.hash;
      await replaceConfig(found.path, edited, io);
      if (isOwn) localKey.replace(io.env, key);
      const did = await whatGatewayDid(found.path, edited, io);
      if (options.quiet !== true) {
        const old = until === null ? 'the old key is no longer valid' : `the old key is valid until ${until}`;
        await note(`${id} (${project}) has a new key in ${name}; ${old}; ${did}\n`, io);
      }
      await printValue({ id, project, key, previous_until: until, file: name }, `${key}\n`, options, io);
    });
}

interface EntryPlace {
  readonly project: string;
  readonly key: KeySettings;
  readonly path: YamlPath;
}

function findEntry(
  projects: Readonly<Record<string, { readonly keys: readonly KeySettings[] }>>,
  id: string,
): EntryPlace | undefined {
  for (const [project, { keys }] of Object.entries(projects)) {
    const index = keys.findIndex((key) => key.id === id);
    const key = keys[index];
    if (key !== undefined) return { project, key, path: ['projects', project, 'keys', index] };
  }
  return undefined;
}

interface Rotation {
  readonly text: string;
  readonly path: YamlPath;
  readonly entry: KeySettings;
  readonly hash: string;
  /** Until when the old key is valid; null: no longer. */
  readonly until: string | null;
}

/** Undefined if the entry can't be changed without changing others. */
async function editText({ text, path, entry, hash, until }: Rotation): Promise<string | undefined> {
  const [{ appendEntry, replaceScalar }, { removeEntry, removeMember }] = await Promise.all([
    import('./edit-yaml.ts'),
    import('./remove-entry.ts'),
  ]);
  const previous = [...path, 'previous'];
  let edited = replaceScalar(text, [...path, 'hash'], hash);
  for (const [i, { expires }] of [...entry.previous.entries()].toReversed()) {
    const isOver = until === null || (parseExpiry(expires) ?? 0) <= Date.now();
    if (isOver && edited !== undefined) edited = removeEntry(edited, previous, i)?.text;
  }
  if (edited === undefined) return undefined;
  // None is left; an empty list says nothing.
  if (until === null)
    return entry.previous.length === 0 ? edited : (removeMember(edited, previous) ?? edited);
  return appendEntry(edited, previous, `{ hash: "${entry.hash}", expires: ${until} }`);
}

function unknown(id: string, name: string, needsLocalKey: boolean): GatewayError {
  const message =
    needsLocalKey && id === 'local'
      ? 'the local key is in no project: "gateway key revoke local" removes it, and the next "gateway serve" makes another'
      : `${name} has no key ${id}; "gateway key list" lists them`;
  return new GatewayError('key.unknown', message);
}

/** The secret is kept elsewhere, so it is replaced there. */
function notHere(id: string, { file }: KeySettings): GatewayError {
  const where = file === undefined ? 'the environment' : file;
  const message = `key ${id} is in ${where}, not in the file: put the new key there ("gateway key new" makes one), and the hash of the old one ("gateway key hash") under previous`;
  return new GatewayError('usage.invalid', message);
}

function graceArgument(text: string): number {
  return text === '0' ? 0 : durationArgument(text);
}
