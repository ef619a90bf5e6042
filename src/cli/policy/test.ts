import type { Command } from 'commander';
import type { Inspection } from '../../config/load.ts';
import { formatPath } from '../../config/source/problems.ts';
import { GatewayError } from '../../errors.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import { commonOptions, outputFormat } from '../shell/command.ts';
import { readFileOrInput } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';
import { formatted, print } from '../shell/print/print.ts';
import { type Fixture, parseFixtures } from './fixtures.ts';
import { type LoadedPolicies, loadPolicies } from './load-policies.ts';

interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** One test case, as `-o json` prints it. */
interface Case {
  readonly kind: 'fixture' | 'inline';
  readonly file: string;
  readonly line: number | null;
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Why a rule's own test failed. */
  readonly message?: string;
}

/** Throws policy.mismatch if a case is not decided as expected. */
export async function testPolicies(files: readonly string[], command: Command, io: Io): Promise<void> {
  const format = outputFormat(command, ['text', 'json', 'ndjson']);
  const options = commonOptions(command);
  // The same result for everybody who has the file, as in the checks of a pull request.
  const policies = await loadPolicies(options, io, { withoutUserFile: true });
  const fixtures = await readFixtures(files, io);
  const nowMs = Date.now();
  const cases = [...inlineCases(policies.inspection)];
  for (const fixture of fixtures) cases.push(await runFixture(fixture, policies, nowMs));
  const failed = cases.filter(({ passed }) => !passed).length;
  const passed = cases.length - failed;
  if (format === 'json') {
    await print(`${JSON.stringify({ passed, failed, cases }, null, 2)}\n`, io);
  } else if (format === 'ndjson') {
    await print(await formatted(cases, format), io);
  } else {
    const shown = options.quiet === true ? cases.filter((one) => !one.passed) : cases;
    const summary = cases.length === 0 ? noTests : `${passed} as expected, ${failed} not`;
    await print(`${shown.map(caseAsText).join('')}${summary}\n`, io);
  }
  if (failed === 0) return;
  const what = cases.length === 1 ? 'the case is' : `${failed} of ${cases.length} cases are`;
  throw new GatewayError('policy.mismatch', `${what} not as expected`);
}

const noTests =
  'no tests: write them into a rule, as tests: { block: ["…"], allow: ["…"] }, or name a file with fixtures';

async function readFixtures(files: readonly string[], io: Io): Promise<readonly Fixture[]> {
  const all: Fixture[] = [];
  for (const file of files) {
    const fixtures = parseFixtures((await readFileOrInput(file, io)).toString(), file);
    if (fixtures.length === 0) throw new GatewayError('usage.invalid', `${file} holds no fixtures`);
    const open = fixtures.find(({ expect }) => expect === undefined);
    if (open !== undefined) {
      throw new GatewayError(
        'usage.invalid',
        `${file}:${open.line}  the fixture expects nothing: give expect`,
      );
    }
    all.push(...fixtures);
  }
  return all;
}

/**
 * Every rule's own tests, identified by their places in the file, never with their texts. They ran when the configuration
 * was loaded; those that failed are among its problems.
 */
function inlineCases({ name: file, settings, problems, source }: Inspection): readonly Case[] {
  const failures = new Map(
    problems.filter(({ kind }) => kind === 'test').map(({ path, message }) => [formatPath(path), message]),
  );
  return Object.entries(settings?.policies ?? {}).flatMap(([policy, { rules }]) =>
    rules.flatMap((rule, index) =>
      (['block', 'allow'] as const).flatMap((list) =>
        (rule.tests?.[list] ?? []).map((_text, number): Case => {
          const path = ['policies', policy, 'rules', index, 'tests', list, number];
          const message = failures.get(formatPath(path));
          return {
            kind: 'inline',
            file,
            line: source?.locate(path, 'value')?.line ?? null,
            name: `${rule.id}: ${formatPath(path)}`,
            passed: message === undefined,
            differences: [],
            ...(message !== undefined && { message }),
          };
        }),
      ),
    ),
  );
}

async function runFixture(
  fixture: Fixture,
  { config, findKey }: LoadedPolicies,
  nowMs: number,
): Promise<Case> {
  const { file, line, name, destination, body, sender, expect } = fixture;
  const key = keyOf(fixture, findKey);
  const { predicted, masked, targets } = await decideOffline({
    config,
    key,
    ...destination,
    body,
    sender,
    nowMs: fixture.nowMs ?? nowMs,
  });
  const got = { ...predicted, masked: masked.map(([, value]) => value), target: targets[0] };
  const differences = Object.entries(expect ?? {}).flatMap(([field, expected]) => {
    const own = got[field as keyof typeof got] ?? null; // the same names in both
    const isAsExpected = expected === undefined || JSON.stringify(own) === JSON.stringify(expected);
    return isAsExpected ? [] : [{ field, expected, got: own }];
  });
  return { kind: 'fixture', file, line, name, passed: differences.length === 0, differences };
}

function keyOf({ key, file, line }: Fixture, findKey: LoadedPolicies['findKey']) {
  try {
    return findKey(key);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, `${file}:${line}  ${error.message}`, { param: 'key' });
  }
}

function caseAsText({ passed, file, line, name, differences, message }: Case): string {
  const place = line === null ? file : `${file}:${line}`;
  const lines = [`${passed ? 'pass' : 'FAIL'}  ${place}${name === '' ? '' : `  ${name}`}`];
  if (message !== undefined) lines.push(`      ${message}`);
  for (const { field, expected, got } of differences) {
    lines.push(`      ${field}: expected ${say(expected)}, got ${say(got)}`);
  }
  return `${lines.join('\n')}\n`;
}

function say(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
