import { servesInspector } from '../config/build/sections.ts';
import type { Config } from '../config/config.ts';
import type { GatewayServer } from '../gateway/serve.ts';
import type { OwnerProof } from '../lib/owner-proof.ts';
import type { Counters } from '../limits/counters.ts';
import { recordsBackwards } from '../record/read-records.ts';
import type { ExchangeRecord } from '../record/record.ts';
import type { LedgerSettings } from './ledger.ts';
import { noLedgerReason } from './ledger-path.ts';

/** Several thousand records, unless they hold bodies. */
const readBytes = 4 * 1024 * 1024;
const usualBytes = 600;

/** The newest records, newest first; none if they can't be read. */
async function lastRecords(file: string): Promise<readonly ExchangeRecord[]> {
  const records: ExchangeRecord[] = [];
  let bytes = 0;
  try {
    for await (const record of recordsBackwards(file)) {
      bytes += usualBytes + (record.request_body?.length ?? 0);
      if (bytes > readBytes) break;
      records.push(record);
    }
  } catch {} // gone or truncated meanwhile: the page begins with what there is
  return records;
}

/** What a gateway's live page needs besides the configuration. */
export interface InspectorSettings {
  readonly configPath: string | undefined;
  /** The user's own file, if policies of it hold over that one. */
  readonly userPath?: string | undefined;
  /** Where earlier exchanges are recorded. */
  readonly recordsFile?: string | undefined;
}

interface InspectedServer {
  readonly config: Config;
  readonly host: string;
  readonly ledger?: LedgerSettings | undefined;
  readonly ownerProof?: OwnerProof | undefined;
  /** Without it no live page is served, even if the configuration enables it. */
  readonly inspector?: InspectorSettings | undefined;
  readonly log: (level: 'info' | 'error', message: string) => void;
}

interface Running extends Pick<GatewayServer, 'gauges'> {
  readonly counters: Counters;
  readonly url: () => string;
}

/** The live page of a gateway; undefined if the configuration that it starts with has none. */
export async function openInspector(
  { config, host, ledger, ownerProof, inspector: settings, log }: InspectedServer,
  running: Running,
) {
  if (settings === undefined || !servesInspector(config.inspector, host)) return undefined;
  const { createInspector } = await import('../inspector/inspector.ts');
  const inspector = createInspector({
    ...running,
    host,
    ledger,
    ownerProof,
    log,
    config,
    configPath: settings.configPath,
    userPath: settings.userPath,
    recordsFile: settings.recordsFile,
    noLedger: noLedgerReason,
  });
  // Nobody waits for them: a page that is open already gets them as they come.
  if (settings.recordsFile !== undefined) {
    const recalled = lastRecords(settings.recordsFile).then(inspector.recall);
    // One may not be what this version writes.
    recalled.catch((cause) => log('error', `earlier records can't be shown: ${String(cause)}`));
  }
  return inspector;
}
