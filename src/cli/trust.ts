import { type Command, Option } from 'commander';
import {
  distrustFile,
  type TrustedFile,
  trustedFile,
  trustedFiles,
  trustFile,
} from '../client/trusted-files.ts';
import { describeSearch, findConfig, namedPath } from '../config/source/find.ts';
import { suggest } from '../config/source/problems.ts';
import { realPathOf } from '../config/source/real-path.ts';
import type { UserProtection } from '../config/user-file.ts';
import { GatewayError } from '../errors.ts';
import { askYes, canAsk } from './shell/ask.ts';
import { type CommonOptions, commonOptions, createCommand, outputFormat } from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { inspectUserConfig, storedConsent } from './shell/load-config.ts';
import { note, printValue } from './shell/print/print.ts';
import { type Listing, printList } from './shell/print/table.ts';

interface TrustOptions {
  readonly list?: true;
  readonly revoke?: true;
  readonly without?: readonly string[];
}

const listing: Listing<TrustedFile> = {
  header: ['FILE', 'SINCE', 'MAY'],
  row: ({ path, since, wants }) => [path, since, wants.map(({ text }) => text).join('; ')],
};

export function build(io: Io): Command {
  return createCommand({
    name: 'trust',
    summary: 'allow a configuration that was found what it wants from outside itself',
    examples: [
      'gateway trust',
      'gateway trust --without house',
      'gateway trust --revoke ../shop/gateway.yaml',
    ],
  })
    .argument('[file]', 'the file (default: the one that serve would use here)')
    .addOption(
      new Option('--list', 'list the files that were allowed something').conflicts(['revoke', 'without']),
    )
    .option('--revoke', 'take back all that the file was allowed')
    .addOption(
      new Option(
        '--without <policy...>',
        'also use the file without these policies of your own configuration, which hold over every other',
      ).conflicts('revoke'),
    )
    .action(async (file: string | undefined, trust: TrustOptions, command: Command) => {
      const { list, revoke, without = [] } = trust;
      outputFormat(command, ['text', 'json', 'ndjson', 'yaml', 'table']);
      const options = commonOptions(command);
      if (list === true) return printList([trustedFiles(io.env)], listing, options, io);
      const path = await pathOf(file, options, io);
      if (revoke === true) await takeBack(path, options, io);
      else await allow(path, without, options, io);
    });
}

async function pathOf(file: string | undefined, { config }: CommonOptions, io: Io): Promise<string> {
  if (file !== undefined) return namedPath(file, io);
  const found = await findConfig({ file: config, cwd: io.cwd, env: io.env });
  if (found !== undefined) return found.path;
  throw new GatewayError('config.invalid', `there is no configuration here: ${describeSearch(io)}`);
}

/** Asks at a terminal; elsewhere the command itself is the answer. */
async function allow(
  path: string,
  without: readonly string[],
  options: CommonOptions,
  io: Io,
): Promise<void> {
  const [{ refuseInvalid }, { linesOf, waiverOf }] = await Promise.all([
    import('../config/load.ts'),
    import('../config/trust/wants.ts'),
  ]);
  const found = { path, from: 'project' } as const;
  const inspection = await inspectUserConfig({ found }, io, { consent: storedConsent(io) });
  refuseInvalid(inspection);
  const real = realPathOf(path);
  refuseUnknown(without, inspection.user);
  const waivers = without.filter((name) => inspection.user?.policies.includes(name)).map(waiverOf);
  const pending = [...inspection.pending, ...waivers];
  if (pending.length > 0 && canAsk(options, io)) {
    await note(`${real} wants:\n${linesOf(pending)}`, io);
    if (!(await askYes('Allow all of this, for this file?', io))) {
      throw new GatewayError('interrupted', 'nothing was allowed');
    }
  }
  if (pending.length > 0) trustFile(io.env, real, pending);
  const kept = (inspection.user?.waived ?? []).map(waiverOf);
  const may = [...inspection.wants, ...kept, ...waivers];
  const result = may.length === 0 ? 'wants nothing from outside itself' : `may:\n${linesOf(may)}`;
  const value = { path: real, may: may.map(({ text }) => text) };
  await printValue(value, `${real} ${result.trimEnd()}\n`, options, io);
}

/** Throws usage.invalid for what is no policy of the user's own that holds over the file. */
function refuseUnknown(names: readonly string[], user: UserProtection | undefined): void {
  const known = user === undefined ? [] : [...user.policies, ...user.waived];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const others = known.length === 0 ? 'it has none' : `there are ${known.join(', ')}`;
  const why =
    user === undefined
      ? 'no configuration of your own holds over this file'
      : `${user.path} has no policy ${unknown} in force; ${suggest(unknown, known) ?? others}`;
  throw new GatewayError('usage.invalid', `--without: ${why}`, { param: 'without' });
}

async function takeBack(path: string, options: CommonOptions, io: Io): Promise<void> {
  const real = realPathOf(path);
  const may = trustedFile(io.env, real)?.wants ?? [];
  distrustFile(io.env, real);
  const text = may.length === 0 ? `${real} was allowed nothing\n` : `${real} is asked about again\n`;
  await printValue({ path: real, revoked: may.map(({ text }) => text) }, text, options, io);
}
