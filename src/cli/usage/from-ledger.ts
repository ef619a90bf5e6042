import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { ledgerSettings, noLedgerReason } from '../../server/ledger-path.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import { note } from '../shell/print/print.ts';
import { followRunning } from '../shell/running-configuration.ts';
import { withSpinner } from '../shell/spinner.ts';

export interface UsageLedger {
  readonly config: Config;
  readonly place: LedgerPlace;
}

interface Empty {
  /** What a note says of a ledger with nothing that was asked for, if one was written; by default the caller says it. */
  readonly nothing?: string;
  /** Whether a sandbox without a ledger is a failure, as where one session is asked for, and no empty list. */
  readonly isFailure?: boolean;
}

/** What the configuration's ledger says. Throws config.invalid for a ledger that is turned off or can't be read. */
export async function fromLedger<Entry>(
  options: CommonOptions,
  io: Io,
  readFrom: (ledger: UsageLedger) => Promise<readonly Entry[]>,
  { nothing, isFailure = false }: Empty = {},
): Promise<readonly Entry[]> {
  const followed = await followRunning(options, io);
  const loaded = followed && (await loadUserConfig(followed, io));
  const config = loaded?.config;
  const settings = loaded && ledgerSettings(loaded, io);
  const say = (text: string) => (options.quiet === true ? undefined : note(`${text}\n`, io));
  if (config === undefined || settings === undefined) {
    const { isSandboxMode } = config ?? { isSandboxMode: true };
    const reason = noLedgerReason({ isSandboxMode });
    if (!isSandboxMode || isFailure) throw new GatewayError('config.invalid', reason);
    await say(reason);
    return [];
  }
  const { place } = settings;
  try {
    const found = await withSpinner('reading the ledger', options, io, () => readFrom({ config, place }));
    if (found.length > 0 || nothing === undefined) return found;
    const isThere = place.path === undefined || existsSync(place.path);
    await say(isThere ? nothing : 'nothing was served yet: the first request makes the ledger');
    return [];
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const [{ createTextScrubber }, { LedgerFailure }, { nameOf }] = await Promise.all([
      import('../../gateway/scrub.ts'),
      import('../../record/ledger/read-ledger.ts'),
      import('../../server/ledger.ts'),
    ]);
    const reason = createTextScrubber(config.secrets)(new LedgerFailure(cause).message);
    throw new GatewayError('config.invalid', `the ledger ${nameOf(place)} can't be read: ${reason}`, {
      cause,
    });
  }
}
