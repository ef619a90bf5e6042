import type { Command } from 'commander';
import { refuseForeignState, stateDirectory } from '../client/state.ts';
import { GatewayError } from '../errors.ts';
import { findUserHistory } from './history/open-history.ts';
import { type ExchangeFilter, followExchanges, listExchanges } from './logs/exchanges.ts';
import { search } from './logs/search.ts';
import { conversationId, findConversation, notFound, show } from './logs/show.ts';
import { type CommonOptions, commonOptions, createCommand, positiveInteger } from './shell/command.ts';
import { durationArgument } from './shell/duration-argument.ts';
import { type Io, write } from './shell/io.ts';
import { printList } from './shell/listing.ts';
import { loadUserConfig } from './shell/load-config.ts';

interface LogsOptions extends CommonOptions, ExchangeFilter {
  readonly follow?: true;
  readonly conversations?: true;
  readonly limit: number;
}

export function build(io: Io): Command {
  const logs = createCommand({
    name: 'logs',
    summary: 'show exchanges and conversations',
    examples: [
      'gateway logs -f --blocked',
      'gateway logs show req_8f2c',
      'gateway logs search "water lilies"',
    ],
  })
    .option('-f, --follow', 'keep printing new exchanges')
    .option('--conversations', 'list the conversations that are kept, in place of exchanges')
    .option('--blocked', 'only what was refused')
    .option('--project <name>', 'only what this project sent')
    .option('--since <duration>', 'only what began within 90m, 24h, 7d or 4w', durationArgument)
    .option('-n, --limit <n>', 'print at most this many', positiveInteger, 20)
    .action(async (_options: unknown, command: Command) => {
      const options = commonOptions(command) as LogsOptions;
      if (options.conversations === true) return listConversations(options, io);
      const file = await recordsFile(options, io);
      const list = options.follow === true ? followExchanges : listExchanges;
      await list({ ...options, file }, options, io);
    });
  logs.addCommand(buildShow(io));
  logs.addCommand(buildSearch(io));
  logs.addCommand(buildRemove(io));
  return logs;
}

function buildShow(io: Io): Command {
  return createCommand({
    name: 'show',
    summary: 'show an exchange by its request id, or a conversation by its id or name',
    examples: ['gateway logs show req_8f2c', 'gateway logs show c7', 'gateway logs show holidays -o json'],
  })
    .argument('<id>', 'req_… of an exchange, c… or the name of a conversation')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const options = commonOptions(command);
      await show(wanted, { ...options, file: await recordsFile(options, io) }, io);
    });
}

function buildSearch(io: Io): Command {
  return createCommand({
    name: 'search',
    summary: 'find a text in conversations and recorded exchanges',
    examples: [
      'gateway logs search lilies',
      'gateway logs search "water lilies" -n 100',
      'gateway logs search 東京 -o ndjson',
    ],
  })
    .argument('<text>', 'literal text to find, in any case')
    .option('-n, --limit <n>', 'print at most this many', positiveInteger, 20)
    .action(async (text: string, _options: unknown, command: Command) => {
      const options = commonOptions(command) as LogsOptions;
      if (text.trim() === '') throw new GatewayError('usage.invalid', 'there is no text to look for');
      const { limit } = options;
      await search({ text, limit, file: await recordsFile(options, io) }, options, io);
    });
}

interface RemoveOptions extends CommonOptions {
  readonly all?: true;
  readonly before?: number;
}

function buildRemove(io: Io): Command {
  return createCommand({
    name: 'rm',
    summary: 'delete conversations that are kept',
    examples: ['gateway logs rm c7', 'gateway logs rm --before 4w', 'gateway logs rm --all'],
  })
    .argument('[id]', 'id or name of a conversation')
    .option(
      '--before <duration>',
      'all that were last continued longer ago than 24h, 7d, 4w',
      durationArgument,
    )
    .option('--all', 'all of them')
    .action(async (wanted: string | undefined, _options: unknown, command: Command) => {
      const options = commonOptions(command) as RemoveOptions;
      const given = [wanted, options.before, options.all].filter((each) => each !== undefined);
      if (given.length !== 1) {
        throw new GatewayError('usage.invalid', 'say what to delete: an id or a name, --before, or --all');
      }
      const history = await findUserHistory(io.env);
      try {
        const found = wanted === undefined ? undefined : history && findConversation(history, wanted);
        if (wanted !== undefined && found === undefined) throw notFound(wanted);
        const beforeMs = options.all === true ? Number.MAX_SAFE_INTEGER : Date.now() - (options.before ?? 0);
        const count = history?.remove(found === undefined ? { beforeMs } : { id: found.id }) ?? 0;
        if (options.quiet === true) return;
        await write(io.stderr, `deleted ${count === 1 ? 'a conversation' : `${count} conversations`}\n`);
      } finally {
        history?.close();
      }
    });
}

async function listConversations(options: LogsOptions, io: Io): Promise<void> {
  if (options.follow === true) {
    throw new GatewayError('usage.invalid', '--follow shows exchanges; --conversations lists what is kept');
  }
  const history = await findUserHistory(io.env);
  try {
    const list = (history?.list(options.limit) ?? []).map((kept) => ({
      id: conversationId(kept),
      name: kept.name,
      model: kept.model,
      turns: kept.turns,
      updated: new Date(kept.updatedMs).toISOString(),
      beginning: kept.beginning.replace(/\s+/g, ' '),
    }));
    await printList(
      once(list),
      {
        header: ['ID', 'NAME', 'MODEL', 'TURNS', 'UPDATED', 'BEGINNING'],
        row: ({ id, name, model, turns, updated, beginning }) => [
          id,
          name ?? '',
          model,
          String(turns),
          updated,
          beginning.slice(0, 60),
        ],
      },
      options,
      io,
    );
  } finally {
    history?.close();
  }
}

/** Where the gateway of this configuration writes its records. */
async function recordsFile(options: CommonOptions, io: Io): Promise<string> {
  const { config } = await loadUserConfig(options, io);
  if (config.records.file !== undefined) return config.records.file;
  refuseForeignState(io.env);
  return `${stateDirectory(io.env)}/records.jsonl`;
}

async function* once<Value>(values: readonly Value[]): AsyncGenerator<readonly Value[]> {
  yield values;
}
