import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../src/limits/limit-table.ts';

const at = (text: string) => Date.parse(text);

describe('calendar', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['day', 'UTC', 'at its midnight', '2026-11-22T18:00:00Z', '2026-11-22', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'],
      ['day', 'Europe/Berlin', 'after 23 hours', '2026-03-29T09:30:00Z', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
      ['day', 'Europe/Berlin', 'after 25 hours', '2026-10-25T20:30:00Z', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
      ['month', 'America/New_York', 'with its zone, not with UTC', '2026-12-01T03:00:00Z', '2026-11', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z'],
    ] as const,
  )('a %s of %s ends %s', (period, zone, _how, now, name, starts, ends) => {
    expect(createCalendar(zone)[period](at(now))).toEqual({ name, startsMs: at(starts), endsMs: at(ends) });
  });

  // Among them zones whose clocks change at midnight, so that it comes twice or not at all, and zones off the hour.
  test.each(['America/Havana', 'America/Santiago', 'Asia/Beirut', 'Australia/Lord_Howe', 'Pacific/Chatham'])(
    'in %s each day begins where the last one ended, at a quarter of an hour',
    (zone) => {
      const calendar = createCalendar(zone);
      const quarterMs = 15 * 60_000;
      const hourMs = 3_600_000;
      let last = calendar.day(at('2026-01-01T12:00:00Z'));

      while (last.endsMs < at('2027-01-02T00:00:00Z')) {
        const next = calendar.day(last.endsMs);

        expect(next.startsMs).toBe(last.endsMs);
        expect(next.name > last.name).toBe(true);
        expect(next.startsMs % quarterMs).toBe(0);
        expect([23, 23.5, 24, 24.5, 25]).toContain((next.endsMs - next.startsMs) / hourMs);
        last = next;
      }
      expect(last.name.slice(0, 7)).toBe('2027-01');
    },
  );

  test('UTC has the days and months of a zone that is the same under another name', () => {
    const [utc, other] = [createCalendar('UTC'), createCalendar('Etc/UTC')];

    for (const text of ['2024-02-29T23:59:59.999Z', '2025-03-01T00:00:00Z', '1999-12-31T12:00:00Z']) {
      expect([utc.day(at(text)), utc.month(at(text))]).toEqual([other.day(at(text)), other.month(at(text))]);
    }
  });

  test('an unknown zone throws', () => {
    expect(() => createCalendar('Europe/Atlantis')).toThrow(RangeError);
  });
});
