/** A day or a month in a time zone: its name (`2026-11-22`, `2026-11`) and when it ends, in ms since 1970. */
export interface Period {
  readonly name: string;
  readonly endsMs: number;
}

export interface Calendar {
  day(nowMs: number): Period;
  month(nowMs: number): Period;
}

const hourMs = 3_600_000;

/**
 * Days and months as the clocks of a time zone have them, so that a budget's midnight is the people's own, also
 * where a day has 23 or 25 hours. Throws RangeError for a zone that is none (IANA names, such as Europe/Berlin).
 */
export function createCalendar(timeZone: string): Calendar {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const nameOf = (ms: number, length: number) => format.format(ms).slice(0, length);
  const named = (length: number, longestHours: number) => {
    let known: { startsMs: number; period: Period } | undefined;
    return (nowMs: number): Period => {
      if (known !== undefined && nowMs >= known.startsMs && nowMs < known.period.endsMs) return known.period;
      const name = nameOf(nowMs, length);
      known = {
        startsMs: nowMs,
        period: { name, endsMs: endOf(name, nowMs, longestHours, (ms) => nameOf(ms, length)) },
      };
      return known.period;
    };
  };
  return { day: named('2026-11-22'.length, 26), month: named('2026-11'.length, 32 * 24) };
}

/** The first millisecond whose name is another one, by halves: names change once within the range. */
function endOf(name: string, nowMs: number, longestHours: number, nameAt: (ms: number) => string): number {
  let low = nowMs;
  let high = nowMs + longestHours * hourMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (nameAt(middle) === name) low = middle;
    else high = middle;
  }
  return high;
}
