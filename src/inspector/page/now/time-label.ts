const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

const dayS = 24 * 3600;

/** A mark of the time axis, in the viewer's time zone: the day where a day begins, and where only days are shown. */
export function timeLabel(seconds: number, spanS: number): string {
  const date = new Date(seconds * 1000);
  if (spanS < dayS / 2) return clock.format(date);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isMidnight || spanS > 2 * dayS ? day.format(date) : clock.format(date);
}
