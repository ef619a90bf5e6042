import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { findUserHistory } from '../history/open-history.ts';
import { type CommonOptions, commonOptions, createCommand, durationArgument } from '../shell/command.ts';
import { type Io, write } from '../shell/io.ts';
import { recordsFile } from './records-file.ts';
import { removeRecords } from './remove-records.ts';
import { conversationId, findConversation, findRecord, notFound } from './show.ts';

interface RemoveOptions extends CommonOptions {
  readonly all?: true;
  /** Milliseconds back from now. */
  readonly before?: number;
  readonly exchanges?: true;
}

export function buildRemove(io: Io): Command {
  return createCommand({
    name: 'rm',
    summary: 'delete saved conversations, or records of exchanges',
    examples: ['gateway logs rm c7', 'gateway logs rm req_8f2c', 'gateway logs rm --exchanges --before 4w'],
  })
    .argument('[id]', 'id or name of a conversation, or id of a request')
    .option('--before <duration>', 'all that are older than 24h, 7d, 4w', durationArgument)
    .option('--all', 'all of them')
    .option('--exchanges', 'with --before or --all: records of exchanges instead of conversations')
    .action(async (wanted: string | undefined, _options: unknown, command: Command) => {
      const options = commonOptions(command) as RemoveOptions;
      const given = [wanted, options.before, options.all].filter((each) => each !== undefined);
      if (given.length !== 1 || (wanted !== undefined && options.exchanges === true)) {
        throw new GatewayError(
          'usage.invalid',
          'name what to delete: an id or a name, or --before or --all, which take --exchanges',
        );
      }
      const isExchange = options.exchanges === true || wanted?.startsWith('req_') === true;
      const count = await (isExchange ? removeExchanges : removeConversations)(wanted, options, io);
      if (options.quiet === true) return;
      const noun = isExchange ? 'record' : 'conversation';
      const after = isExchange ? '; the ledger keeps what they cost' : '';
      await write(io.stderr, `deleted ${count === 1 ? `a ${noun}` : `${count} ${noun}s`}${after}\n`);
    });
}

async function removeExchanges(
  requestId: string | undefined,
  options: RemoveOptions,
  io: Io,
): Promise<number> {
  const beforeTime = new Date(Date.now() - (options.before ?? 0)).toISOString();
  const isAll = options.all === true;
  const file = await recordsFile(options, io);
  const whole = requestId === undefined ? undefined : (await findRecord(file, requestId))?.request_id;
  const { count, isUnfinishedLeft } = await removeRecords(file, ({ request_id: id, time }) =>
    requestId === undefined
      ? isAll || (time !== undefined && time < beforeTime)
      : id === (whole ?? requestId),
  );
  if (isUnfinishedLeft) {
    const problem = `the last line of ${file} is incomplete and was left as it is: it may contain part of a record`;
    await write(io.stderr, `gateway: ${problem}; try again once more was logged\n`);
  } else if (requestId !== undefined && count === 0) throw await noRecord(requestId, io);
  return count;
}

/** The prompt may also be in a conversation, which is deleted as a whole. */
async function noRecord(requestId: string, io: Io): Promise<GatewayError> {
  const history = await findUserHistory(io.env);
  try {
    const conversation = history && findConversation(history, requestId);
    if (conversation === undefined) return notFound(requestId);
    const id = conversationId(conversation);
    const message = `there is no record of ${requestId}, but it is part of the conversation ${id}`;
    return new GatewayError('log.unknown', `${message}: gateway logs rm ${id}`);
  } finally {
    history?.close();
  }
}

async function removeConversations(
  wanted: string | undefined,
  { all, before = 0 }: RemoveOptions,
  io: Io,
): Promise<number> {
  const history = await findUserHistory(io.env);
  try {
    const found = wanted === undefined ? undefined : history && findConversation(history, wanted);
    if (wanted !== undefined && found === undefined) throw notFound(wanted);
    const beforeMs = all === true ? Number.MAX_SAFE_INTEGER : Date.now() - before;
    return history?.remove(found === undefined ? { beforeMs } : { id: found.id }) ?? 0;
  } finally {
    history?.close();
  }
}
