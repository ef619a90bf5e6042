import type { Paint } from '../../paint.ts';

/** A record of the plant store's log as a line for a person. */
export function requestLine(record: object, paint: Paint): string {
  const time = paint('dim', new Date().toTimeString().slice(0, 8));
  const {
    event,
    method,
    operation,
    status,
    duration_ms: duration,
    reason,
    cause,
    ...rest
  }: Record<string, unknown> = {
    ...record,
  };
  if (event !== 'plants.request') {
    const details = JSON.stringify({ reason, cause, ...rest });
    return `${time}   ${event}${details === '{}' ? '' : ` ${details}`}\n`;
  }
  const mark = Number(status) < 400 ? paint('green', '✓') : paint('red', '✗');
  const words = [time, mark, status, method, operation ?? '-', `${duration}ms`, reason, cause];
  return `${words.filter((word) => word !== undefined).join(' ')}\n`;
}
