import type { KeyRecord } from '../../config/build/keys.ts';
import { GatewayError } from '../../errors.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import type { Outcome } from '../../gateway/offline/question.ts';
import type { Expectation, Fixture } from './fixtures.ts';
import type { LoadedPolicies } from './load-policies.ts';

export interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The differences between a fixture's expected and actual outcome. */
export function checkFixture(
  fixture: Fixture,
  policies: LoadedPolicies,
  nowMs: number,
): readonly Difference[] {
  const question = {
    config: policies.config,
    key: keyOf(fixture, policies),
    endpoint: fixture.endpoint,
    body: fixture.body,
    nowMs: fixture.nowMs ?? nowMs,
  };
  const { masked, ...expect } = fixture.expect ?? {};
  const decided = decideOffline(question);
  const differences = compare(expect, decided.outcome);
  const got = masked === undefined ? masked : decided.masked;
  const isAsExpected = JSON.stringify(got) === JSON.stringify(masked);
  return isAsExpected ? differences : [...differences, { field: 'masked', expected: masked, got }];
}

function keyOf({ key, file, line }: Fixture, policies: LoadedPolicies): KeyRecord {
  try {
    return policies.findKey(key);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, `${file}:${line}  ${error.message}`, { param: 'key' });
  }
}

function compare(expect: Omit<Expectation, 'masked'>, outcome: Outcome): readonly Difference[] {
  return Object.entries(expect).flatMap(([field, expected]) => {
    const got = outcome[field as keyof typeof expect] ?? null; // the same names in both
    return JSON.stringify(got) === JSON.stringify(expected) ? [] : [{ field, expected, got }];
  });
}
