import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';

/** What is saved according to GATEWAY_HISTORY: nothing, what the user asks for (the default), or every prompt. */
export function historySetting({ GATEWAY_HISTORY: setting = '' }: Io['env']): 'off' | 'asked' | 'all' {
  if (setting === '' || setting === 'asked') return 'asked';
  if (setting === 'off' || setting === 'all') return setting;
  throw new GatewayError('usage.invalid', `GATEWAY_HISTORY must be off, asked or all, not ${setting}`);
}

/** Throws usage.invalid if nothing may be saved. */
export function checkHistoryAllowed(env: Io['env']): void {
  if (historySetting(env) !== 'off') return;
  throw new GatewayError('usage.invalid', 'GATEWAY_HISTORY is off: no conversations are saved');
}
