import * as z from 'zod';
import { about } from './about.ts';
import { defineMatcher } from './matcher.ts';

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type Day = (typeof days)[number];
const hours = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

/** The time of the request: days of the week, hours, or both, in a time zone. */
export const time = defineMatcher({
  schema: z
    .strictObject({
      days: z
        .array(z.enum(days))
        .min(1)
        .optional()
        .register(...about('Days of the week; default: all.')),
      hours: z
        .array(z.string().regex(hours, 'expected hours as "09:00-17:30"'))
        .min(1)
        .optional()
        .register(
          ...about(
            'Spans such as "22:00-06:00", of which the start belongs to it and the end does not; past midnight they belong to the day on which they began.',
          ),
        ),
      zone: z
        .string()
        .default('UTC')
        .register(...about('Time zone of days and hours, as an IANA name.')),
    })
    .refine(
      (options) => options.days !== undefined || options.hours !== undefined,
      'give days, hours or both',
    )
    .register(...about('When the request arrives.')),
  compile({ days: wanted, hours: spans, zone }, { problem }) {
    const clock = createClock(zone);
    if (clock === undefined) {
      problem(
        ['zone'],
        `there is no time zone ${JSON.stringify(zone)}; expected a name such as Europe/Berlin`,
      );
      return { test: () => undefined };
    }
    const ranges = spans?.map(parseSpan);
    ranges?.forEach((range, index) => {
      if (range.from === range.to)
        problem(['hours', index], 'these hours are empty, so the rule can never match');
    });
    const isWanted = (day: Day) => wanted?.includes(day) ?? true;
    const holds = (at: Moment) =>
      ranges?.some((range) => isWithin(range, at.minute) && isWanted(dayOf(range, at))) ?? isWanted(at.day);
    return {
      test({ subject }) {
        return holds(clock(subject.nowMs)) ? [{ at: '', matcher: 'time', count: 1 }] : undefined;
      },
    };
  },
});

interface Span {
  readonly from: number;
  readonly to: number;
}

function parseSpan(text: string): Span {
  const [from, to] = text.split('-').map((clock) => {
    const [hour, minute] = clock.split(':').map(Number);
    return (hour as number) * 60 + (minute as number);
  });
  return { from: from as number, to: to as number };
}

/** Hours that end before they begin continue past midnight. */
function isWithin({ from, to }: Span, minute: number): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** The day that hours belong to: the one on which they began. */
function dayOf({ from, to }: Span, { day, minute }: Moment): Day {
  if (from <= to || minute >= to) return day;
  return days[(days.indexOf(day) + days.length - 1) % days.length] ?? day;
}

interface Moment {
  readonly day: Day;
  readonly minute: number;
}

type Clock = (nowMs: number) => Moment;

function createClock(zone: string): Clock | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  } catch {
    // Intl throws for a zone it doesn't know.
    return undefined;
  }
  return (nowMs) => {
    const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]));
    const day = days.find((each) => each === parts.get('weekday')?.toLowerCase()) ?? 'sun';
    return { day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) };
  };
}
