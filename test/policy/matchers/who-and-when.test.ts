import { describe, expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

const body = saying('hi');

test('project and key are globs', () => {
  const byProject = policyOf({ id: 'p', action: 'block', when: { project: ['shop*'] } });
  const byKey = policyOf({ id: 'k', action: 'block', when: { key: ['shop-web'] } });

  expect(byProject(body, { project: 'shop-2' }).action).toBe('block');
  expect(byProject(body, { project: 'lab' }).action).toBe('allow');
  expect(byKey(body, { key: 'shop-web' }).action).toBe('block');
  expect(byKey(body, { key: 'shop-ci' }).action).toBe('allow');
});

test('stream asks how the answer is wanted', () => {
  const decide = policyOf({ id: 's', action: 'block', when: { stream: true } });

  expect(decide(body, { stream: true }).refusal?.at).toBe('/stream');
  expect(decide(body, { stream: false }).action).toBe('allow');
});

describe('time', () => {
  const at = (when: unknown, nowMs: number) =>
    policyOf({ id: 't', action: 'block', when: { time: when } })(body, { nowMs }).action;

  test('knows days and hours in UTC', () => {
    const wednesdayNoon = Date.UTC(2026, 0, 7, 12, 0);

    expect(at({ days: ['wed'] }, wednesdayNoon)).toBe('block');
    expect(at({ days: ['tue'] }, wednesdayNoon)).toBe('allow');
    expect(at({ hours: ['09:00-12:00'] }, wednesdayNoon)).toBe('allow');
    expect(at({ hours: ['09:00-12:01'] }, wednesdayNoon)).toBe('block');
    expect(at({ days: ['wed'], hours: ['13:00-24:00'] }, wednesdayNoon)).toBe('allow');
  });

  test('accepts hours past midnight', () => {
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 23, 0))).toBe('block');
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 5, 59))).toBe('block');
    expect(at({ hours: ['22:00-06:00'] }, Date.UTC(2026, 0, 7, 6, 0))).toBe('allow');
  });

  test('knows zones and their summer time', () => {
    const noon = { hours: ['12:00-13:00'], zone: 'Europe/Berlin' };

    expect(at(noon, Date.UTC(2026, 0, 7, 11, 30))).toBe('block');
    expect(at(noon, Date.UTC(2026, 6, 7, 10, 30))).toBe('block');
    expect(at(noon, Date.UTC(2026, 6, 7, 11, 30))).toBe('allow');
  });
});
