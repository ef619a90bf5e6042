import { buildLimits, type KeyLimits } from '../../config/build/keys.ts';
import { GatewayError } from '../../errors.ts';
import type { HttpRequest } from '../../http/request.ts';
import { runLimitsHeader } from '../../lib/run-limits-header.ts';
import type { Sender } from '../sender.ts';

const form = /^(?:usd=(\d{1,6}(?:\.\d{1,6})?))?(?:(?:^|;)requests=(\d{1,9}))?$/;

/**
 * What `gateway run --budget` and `--requests` allow the run that a request belongs to; undefined without. A client can only
 * narrow by it what its key may use. Throws request.field for a value of another form, rather than limiting nothing.
 */
export function readRunLimits(
  request: Pick<HttpRequest, 'header'>,
  { run }: Pick<Sender, 'run'>,
  key: string,
): KeyLimits | undefined {
  if (run === undefined) return undefined;
  const value = request.header(runLimitsHeader);
  // Empty from an agent whose settings have the header in any case.
  if (value === undefined || value === '') return undefined;
  const [, usd, requests] = form.exec(value) ?? [];
  if (usd === undefined && requests === undefined) {
    const message = `${runLimitsHeader} must be usd=N, requests=N or usd=N;requests=N`;
    throw new GatewayError('request.field', message, { param: runLimitsHeader });
  }
  const limits = buildLimits('key', key, {
    ...(usd !== undefined && { usd_per_session: Number(usd) }),
    ...(requests !== undefined && { requests_per_session: Number(requests) }),
    mode: 'enforce',
    unpriced: 'refuse',
    time_zone: 'UTC',
  });
  return { ...limits, run };
}
