import { excerptOf, type FoundTurn } from '../../history/conversation-row.ts';
import { linesWith, recordsBackwards } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import { findUserHistory } from '../history/open-history.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printList } from '../shell/print/listing.ts';
import { conversationId } from './show.ts';

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
  const history = await findUserHistory(io.env);
  try {
    const turns = (history?.search(wanted.text, wanted.limit) ?? []).map(toFound);
    const exchanges = await searchRecords(wanted);
    const found = [...turns, ...exchanges].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, wanted.limit);
    const header = ['IN', 'ROLE', 'TIME', 'TEXT'];
    const row = ({ in: place, role, at, excerpt }: Found) => [place, role, at, excerpt];
    await printList([found], { header, row, leastFirst: leastFirst(io) }, options, io);
  } finally {
    history?.close();
  }
}

/** On a narrow terminal what was found matters more than when. */
function leastFirst({ stdout }: Io): readonly string[] {
  return (stdout.columns || Number.POSITIVE_INFINITY) < 64 ? ['TIME', 'ROLE'] : [];
}

function toFound({ conversation, name, role, atMs, requestId, excerpt }: FoundTurn): Found {
  const place = name ?? conversationId({ id: conversation });
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
