import { trustedFile, trustFile } from '../../client/trusted-files.ts';
import { type Consent, describeWants, type JudgedFile } from '../../config/trust/consent.ts';
import type { Want } from '../../config/trust/wants.ts';
import { GatewayError } from '../../errors.ts';
import { askYes, canAsk } from './ask.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
import { note } from './print/print.ts';
import { wrapped } from './print/wrapped.ts';

/** What was allowed before, and nothing more: for reports, and where nobody waits for a question. */
export function storedConsent({ env }: Pick<Io, 'env'>): Consent {
  return async (file) => stillPending(file, env);
}

/** The same, but a person at a terminal is asked about the rest, and the answer kept if it is yes. */
export function askedConsent(options: Pick<CommonOptions, 'input'>, io: Io): Consent {
  return async (file) => {
    const pending = stillPending(file, io.env);
    if (pending.length === 0 || !file.isValid || !canAsk(options, io)) return pending;
    await note(await wrapped(describeWants(file.name, pending), io.stderr), io);
    if (!(await askYes('Allow all of this, for this file?', io))) {
      throw new GatewayError('config.untrusted', `${file.name} was not used: -c names another file`);
    }
    trustFile(io.env, file.path, pending);
    return [];
  };
}

function stillPending({ path, wants }: JudgedFile, env: Io['env']): readonly Want[] {
  const allowed = new Set(trustedFile(env, path)?.wants.map(({ id }) => id));
  return wants.filter(({ id }) => !allowed.has(id));
}
