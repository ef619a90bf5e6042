import { GatewayError } from '../../errors.ts';
import { excerptOf, type FoundTurn, type KeptConversation } from '../../history/conversation-row.ts';
import type { History } from '../../history/history.ts';
import { painter } from '../../lib/paint.ts';
import { linesWith, recordsBackwards } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import { withUserHistory } from '../history/open-history.ts';
import type { CommonOptions } from '../shell/command.ts';
import { hasColour, type Io, write } from '../shell/io.ts';
import { formatted, isForPrograms, print, printable } from '../shell/print/print.ts';
import { printList } from '../shell/print/table.ts';

/** Prints an exchange by its request id, or a conversation by its id or name. Throws log.unknown. */
export async function show(
  wanted: string,
  { file, ...options }: CommonOptions & { readonly file: string },
  io: Io,
): Promise<void> {
  const record = wanted.startsWith('req_') ? await findRecord(file, wanted) : undefined;
  await withUserHistory(io.env, async (history) => {
    const conversation = history && findConversation(history, record?.request_id ?? wanted);
    if (record === undefined && conversation === undefined) throw notFound(wanted);
    const turns = history && conversation ? history.turns(conversation.id) : [];
    const value = {
      ...(record && { exchange: record }),
      ...(conversation && {
        conversation: {
          id: shownId(conversation),
          name: conversation.name,
          model: conversation.model,
          system: conversation.system,
          turns: turns.map(({ role, text, atMs, requestId }) => ({
            role,
            text,
            at: new Date(atMs).toISOString(),
            request_id: requestId ?? null,
          })),
        },
      }),
    };
    if (isForPrograms(options.output)) return await print(await formatted(value, options.output), io);
    await write(io.stdout, toText(value, options, io));
  });
}

export function shownId({ id }: Pick<KeptConversation, 'id'>): string {
  return `c${id}`;
}

/** Finds it by `c7`, by its name, or by the id of a request sent in it. */
export function findConversation(history: History, wanted: string): KeptConversation | undefined {
  const [, id] = /^c(\d{1,15})$/.exec(wanted) ?? [];
  if (id !== undefined) return history.withId(Number(id));
  return wanted.startsWith('req_') ? history.ofRequest(wanted) : history.named(wanted);
}

export function notFound(wanted: string): GatewayError {
  const message = `there is neither an exchange nor a conversation ${wanted}`;
  return new GatewayError(
    'log.unknown',
    `${message}; "gateway logs" and "gateway logs --conversations" list them`,
  );
}

/** By its id, or the beginning of its id as lines of the log show it. Throws log.unknown if several ids begin with it. */
export async function findRecord(file: string, wanted: string): Promise<ExchangeRecord | undefined> {
  let found: ExchangeRecord | undefined;
  for await (const record of recordsBackwards(file, linesWith([wanted]))) {
    if (record.request_id === wanted) return record;
    if (!record.request_id.startsWith(wanted) || record.request_id === found?.request_id) continue;
    if (found !== undefined)
      throw new GatewayError('log.unknown', `the ids of several exchanges begin with ${wanted}`);
    found = record;
  }
  return found;
}

interface Shown {
  readonly exchange?: ExchangeRecord;
  readonly conversation?: {
    readonly id: string;
    readonly name: string | null;
    readonly model: string;
    readonly system: string | null;
    readonly turns: readonly { readonly role: string; readonly text: string; readonly at: string }[];
  };
}

function toText({ exchange, conversation }: Shown, options: CommonOptions, io: Io): string {
  const paint = painter(options.color && hasColour(io.stdout, io.env));
  const shown = (text: string) => (io.stdout.isTTY === true ? printable(text, io.env) : text);
  const fields = Object.entries(exchange ?? {}).map(
    ([name, value]) =>
      `${paint('dim', name.padEnd(14))} ${shown(typeof value === 'string' ? value : JSON.stringify(value))}\n`,
  );
  if (conversation === undefined) return fields.join('');
  const { id, name, model, system, turns } = conversation;
  const title = [id, ...(name === null ? [] : [name]), model].join(' · ');
  return [
    ...fields,
    ...(fields.length === 0 ? [] : ['\n']),
    `${paint('dim', title)}\n`,
    ...(system === null ? [] : [`\n${paint('bold', 'system')}\n${shown(system)}\n`]),
    ...turns.map(({ role, text, at }) => `\n${paint('bold', role)} ${paint('dim', at)}\n${shown(text)}\n`),
  ].join('');
}

interface Found {
  /** A conversation by its name or id, or an exchange by its request id. */
  readonly in: string;
  readonly role: string;
  readonly at: string;
  readonly request_id: string | null;
  readonly excerpt: string;
}

interface Wanted {
  readonly text: string;
  readonly limit: number;
  readonly file: string;
}

/**
 * Prints where a text occurs: in the turns of conversations, and in the records of exchanges, including their bodies if
 * records.bodies keeps them. Newest first.
 */
export async function search(wanted: Wanted, options: CommonOptions, io: Io): Promise<void> {
  await withUserHistory(io.env, async (history) => {
    const turns = (history?.search(wanted.text, wanted.limit) ?? []).map(toFound);
    const exchanges = await searchRecords(wanted);
    const found = [...turns, ...exchanges].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, wanted.limit);
    const header = ['IN', 'ROLE', 'TIME', 'TEXT'];
    const row = ({ in: place, role, at, excerpt }: Found) => [place, role, at, excerpt];
    await printList([found], { header, row, narrowedFirst: narrowedFirst(io) }, options, io);
  });
}

/** On a narrow terminal what was found matters more than when. */
function narrowedFirst({ stdout }: Io): readonly string[] {
  return (stdout.columns || Number.POSITIVE_INFINITY) < 64 ? ['TIME', 'ROLE'] : [];
}

function toFound({ conversation, name, role, atMs, requestId, excerpt }: FoundTurn): Found {
  const place = name ?? shownId({ id: conversation });
  return { in: place, role, at: new Date(atMs).toISOString(), request_id: requestId, excerpt };
}

async function searchRecords({ text, limit, file }: Wanted): Promise<readonly Found[]> {
  const found: Found[] = [];
  for await (const record of recordsBackwards(file, linesWith(spellings(text)))) {
    const place = record.request_id;
    const excerpt = excerptOf(record.request_body ?? wordsOf(record), text);
    found.push({ in: place, role: 'exchange', at: record.time, request_id: place, excerpt });
    if (found.length >= limit) break;
  }
  return found;
}

/** The text as JSON escapes it, once for a field and twice for a recorded body. */
function spellings(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [...new Set([once, JSON.stringify(once).slice(1, -1)])];
}

function wordsOf({ endpoint, path, model, status, outcome, reason }: ExchangeRecord): string {
  return [endpoint ?? path, model, status, outcome, reason].filter((word) => word !== undefined).join(' ');
}
