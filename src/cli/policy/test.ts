import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import { readFileOrInput } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';
import { print } from '../shell/print/print.ts';
import type { Difference, Fixture } from './fixtures.ts';
import type { LoadedPolicies } from './load-policies.ts';

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

export function build(io: Io): Command {
  return createCommand({
    name: 'test',
    summary: "run fixtures and the rules' own tests; exit 1 if one fails",
    examples: [
      'gateway policy test',
      'gateway policy test policies/*.test.yaml',
      'gateway policy test -o json fixtures.yaml',
    ],
  })
    .argument('[files...]', "YAML files with fixtures (without any: the rules' own tests)")
    .action(async (files: readonly string[], _options: unknown, command: Command) => {
      const format = outputFormat(command, ['text', 'json', 'ndjson']);
      const options = commonOptions(command);
      const { loadPolicies } = await import('./engine.ts');
      const policies = await loadPolicies(options, io);
      const fixtures = await readFixtures(files, io);
      const cases = [...(await runInline(policies)), ...(await runFixtures(fixtures, policies, Date.now()))];
      const failed = cases.filter(({ passed }) => !passed).length;
      const passed = cases.length - failed;
      if (format === 'json') {
        await print(`${JSON.stringify({ passed, failed, cases }, null, 2)}\n`, io);
      } else if (format === 'ndjson') {
        await print(cases.map((one) => `${JSON.stringify(one)}\n`).join(''), io);
      } else {
        const shown = options.quiet === true ? cases.filter((one) => !one.passed) : cases;
        const summary = cases.length === 0 ? noTests : `${passed} as expected, ${failed} not`;
        await print(`${shown.map(caseAsText).join('')}${summary}\n`, io);
      }
      if (failed === 0) return;
      const what = cases.length === 1 ? 'the case is' : `${failed} of ${cases.length} cases are`;
      throw new GatewayError('policy.mismatch', `${what} not as expected`);
    });
}

const noTests =
  'no tests: write them into a rule, as tests: { block: ["…"], allow: ["…"] }, or name a file with fixtures';

async function readFixtures(files: readonly string[], io: Io): Promise<readonly Fixture[]> {
  const { parseFixtures } = await import('./engine.ts');
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

async function runInline({ inspection }: LoadedPolicies): Promise<readonly Case[]> {
  const { inlineCases } = await import('./engine.ts');
  return inlineCases(inspection).map(({ path, line, rule, failure }) => ({
    kind: 'inline',
    file: inspection.name,
    line: line ?? null,
    name: `${rule}: ${path}`,
    passed: failure === undefined,
    differences: [],
    ...(failure === undefined ? {} : { message: failure }),
  }));
}

async function runFixtures(
  fixtures: readonly Fixture[],
  policies: LoadedPolicies,
  nowMs: number,
): Promise<readonly Case[]> {
  const { checkFixture } = await import('./engine.ts');
  return fixtures.map((fixture) => {
    const differences = checkFixture(fixture, policies, nowMs);
    const { file, line, name } = fixture;
    return { kind: 'fixture', file, line, name, passed: differences.length === 0, differences };
  });
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
