const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minutes = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function formatMicroseconds(microseconds: number): string {
  return microseconds < 1000 ? `${microseconds} µs` : formatDuration(microseconds / 1000);
}

/** To the last digit. */
export function formatWhole(count: number): string {
  return whole.format(count);
}

export function formatCount(count: number): string {
  return count < 10_000 ? whole.format(count) : compact.format(count).toLowerCase().replace('m', 'M');
}

export function formatCost(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  if (usd < 1) return `$${usd.toFixed(4)}`;
  return `$${usd < 1000 ? usd.toFixed(2) : whole.format(Math.round(usd))}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** In the viewer's own time zone. */
export function formatClock(time: string): string {
  return formatDate(clock, time);
}

export function formatTime(time: string): string {
  return formatDate(dayAndClock, time);
}

function formatDate(format: Intl.DateTimeFormat, time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : format.format(date);
}

const dayMs = 24 * 3_600_000;

/** A mark of a time axis: the day where a day begins, and where only days are shown. */
export function formatTick(time: string, spanMs: number): string {
  const date = new Date(time);
  if (spanMs < dayMs / 2) return minutes.format(date);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isMidnight || spanMs > 2 * dayMs ? day.format(date) : minutes.format(date);
}
