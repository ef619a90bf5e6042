import { setTimeout } from 'node:timers/promises';
import { linesWith, recordsBackwards } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { note } from '../shell/print/print.ts';
import { recordsFile } from '../shell/running-configuration.ts';
import { amountsText } from '../usage/amounts-text.ts';

/** The last exchange is recorded once the agent has its answer. */
const lastRecordMs = 150;

/** In one line, what the agent that has just ended did: requests, tokens, cost, what policies found, where to look. */
export async function noteRun(run: string, options: CommonOptions, io: Io): Promise<void> {
  await setTimeout(lastRecordMs, undefined, { signal: io.signal }).catch(() => undefined);
  const records: ExchangeRecord[] = [];
  for await (const record of recordsBackwards(await recordsFile(options, io), linesWith([run])))
    if (record.run === run) records.push(record);
  if (records.length === 0) return;
  const sum = (amount: (record: ExchangeRecord) => number | undefined) =>
    records.reduce((total, record) => total + (amount(record) ?? 0), 0);
  const used = amountsText({
    requests: records.length,
    input_tokens: sum(({ usage }) => usage?.input_tokens),
    output_tokens: sum(({ usage }) => usage?.output_tokens),
    cache_read_tokens: sum(({ usage }) => usage?.cache_read_tokens),
    cost_usd: sum(({ cost_usd }) => cost_usd),
    unpriced: sum(({ usage, cost_usd }) => (usage !== undefined && cost_usd === undefined ? 1 : 0)),
  });
  await note(`gateway: ${[used, ...findingsOf(records)].join('; ')}; ${whereToLook(records)}\n`, io);
}

/** What policies and limits did. */
function findingsOf(records: readonly ExchangeRecord[]): readonly string[] {
  const kinds = {
    refused: ({ outcome }: ExchangeRecord) => outcome === 'refused',
    masked: ({ masked }: ExchangeRecord) => masked !== undefined,
    redacted: ({ decision }: ExchangeRecord) => decision === 'redact',
    'with a warning': ({ decision }: ExchangeRecord) => decision === 'warn',
    failed: ({ outcome }: ExchangeRecord) => outcome === 'failed',
  };
  return Object.entries(kinds).flatMap(([name, isOf]) => {
    const count = records.filter(isOf).length;
    return count === 0 ? [] : [`${count} ${name}`];
  });
}

function whereToLook(records: readonly ExchangeRecord[]): string {
  const [session, ...others] = new Set(records.flatMap(({ session }) => session ?? []));
  if (session !== undefined && others.length === 0) return `gateway sessions show ${session}`;
  return session === undefined ? `gateway logs -n ${records.length}` : 'gateway sessions';
}
