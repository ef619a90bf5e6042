import type * as z from 'zod';
import { isFields } from '../../dialects/fields.ts';
import { describeIssues } from '../schema/issues.ts';
import { nameSchema } from '../schema/scalars.ts';
import { mapValues, type Settings, settingsSchema } from '../schema/schema.ts';
import type { SourceDocument } from '../source/document.ts';
import { listOf, type Problem } from '../source/problems.ts';
import type { ProblemSink } from '../source/report.ts';
import type { Reference } from '../source/substitute.ts';
import { sandboxPolicies } from './own-policies.ts';
import { withDialectDefaults } from './providers.ts';

type Path = readonly PropertyKey[];

/** What a file (or nothing) says, with every default filled in. */
export interface ReadSettings {
  /** Without the parts that are wrong, so that the rest can be checked; undefined when it makes no sense without. */
  readonly settings: Settings | undefined;
  /** The parts that were left out as wrong; nothing about them is worth a second message. */
  readonly leftOut: readonly Path[];
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
}

interface Inputs {
  /** The value of the file after substitution. */
  readonly value: unknown;
  readonly references: readonly Reference[];
  readonly source: SourceDocument | undefined;
  readonly report: ProblemSink;
}

export function readSettings({ value: written, references, source, report }: Inputs): ReadSettings {
  const value = withAbsentParts(written);
  const first = parse(value, references);
  const issues = first.success ? [] : first.error.issues;
  const foreign = isFields(written) ? foreignKeys.find(([key]) => Object.hasOwn(written, key)) : undefined;
  if (foreign === undefined) {
    const all = [...issues, ...unknownWithoutValue(source?.value, references)];
    report.add(describeIssues(all, value, source).map((problem) => withOrigin(problem, references)));
  } else {
    const [key, product, counterparts] = foreign;
    const hint = `"gateway init" writes a gateway.yaml; ${counterparts} (docs/providers.md)`;
    report.error([key], `this is a configuration of ${product}`, { part: 'key', hint });
  }
  const { settings, leftOut } = first.success
    ? { settings: first.data, leftOut: [] }
    : salvage(value, references);
  const has = (key: string) => isFields(written) && Object.hasOwn(written, key);
  return {
    settings: settings && {
      ...settings,
      providers: mapValues(settings.providers ?? {}, withDialectDefaults),
    },
    leftOut,
    isSandboxMode: !has('providers') && !has('models') && !has('projects'),
    needsLocalKey: !has('projects'),
  };
}

/** Of a value that the file only refers to, the variable that brings it is named: the file itself may be right. */
function withOrigin(problem: Problem, references: readonly Reference[]): Problem {
  const origin = references.find(({ path, unset }) => unset.length === 0 && isSame(path, problem.path));
  if (origin === undefined || problem.hint !== undefined) return problem;
  return { ...problem, hint: `the value is from ${listOf(origin.names, 'and')}` };
}

/** Unknown keys whose value was left out, as a variable in it is unset, and which the schema therefore has not seen. */
function unknownWithoutValue(written: unknown, references: readonly Reference[]): z.core.$ZodIssue[] {
  const leftOut = references.filter(({ unset }) => unset.length > 0);
  if (leftOut.length === 0) return [];
  const parsed = settingsSchema.safeParse(withAbsentParts(written), { jitless: true });
  const issues = parsed.success ? [] : parsed.error.issues;
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const keys = issue.keys.filter((key) => leftOut.some(({ path }) => isSame(path, [...issue.path, key])));
    return keys.length === 0 ? [] : [{ ...issue, keys }];
  });
}

/** What other products' files begin with, and where it goes here. */
const foreignKeys = [
  ['model_list', 'LiteLLM', 'its model_list goes to providers and models'],
  ['Providers', 'claude-code-router', 'its Providers go to providers, its Router to models'],
] as const;

/** What an absent `providers`, `models` or `projects` stands for, and in sandbox mode absent `policies`. */
function withAbsentParts(written: unknown): unknown {
  if (!isFields(written)) return written;
  const providers = written.providers ?? { sandbox: { dialect: 'sandbox' } };
  const sandbox = isFields(providers)
    ? Object.keys(providers).find((name) => {
        const provider = providers[name];
        return isFields(provider) && provider.dialect === 'sandbox' && nameSchema.safeParse(name).success;
      })
    : undefined;
  const isSandboxMode = !['providers', 'models', 'projects'].some((key) => Object.hasOwn(written, key));
  // In sandbox mode the names that agents ask for by default work too.
  const matches = isSandboxMode ? ['sandbox-*', '*'] : ['sandbox-*'];
  const models = sandbox === undefined ? [] : matches.map((match) => ({ match, provider: sandbox }));
  return {
    providers,
    models,
    projects: { local: {} },
    ...(isSandboxMode && { policies: sandboxPolicies }),
    ...written,
  };
}

/** Variables are text; where the schema wants a number or a truth value, one that reads as such is taken. */
function parse(value: unknown, references: readonly Reference[]): z.ZodSafeParseResult<Settings> {
  const first = settingsSchema.safeParse(value, { jitless: true });
  if (first.success || references.length === 0) return first;
  let converted = value;
  for (const issue of first.error.issues) {
    if (issue.code !== 'invalid_type') continue;
    if (!references.some(({ path }) => isSame(path, issue.path))) continue;
    converted = update(converted, issue.path, (text) => toScalar(String(text), issue.expected));
  }
  return converted === value ? first : settingsSchema.safeParse(converted, { jitless: true });
}

function toScalar(text: string, expected: string): unknown {
  if (expected === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  if ((expected === 'number' || expected === 'int') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return text;
}

function update(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, i) => (i === head ? update(item, rest, change) : item));
  if (!isFields(value)) return value;
  return { ...value, [head]: update(value[String(head)], rest, change) };
}

interface Salvage {
  readonly settings: Settings | undefined;
  readonly leftOut: readonly Path[];
}

/** The settings without their wrong parts, so that the first mistake doesn't hide the others. */
function salvage(value: unknown, references: readonly Reference[]): Salvage {
  let rest = value;
  const leftOut: Path[] = [];
  // Leaving out a setting that must be there makes its group wrong, so each round may go a level up.
  for (let round = 0; round < 8; round += 1) {
    const parsed = parse(rest, references);
    if (parsed.success) return { settings: parsed.data, leftOut };
    const wrong = parsed.error.issues.flatMap((issue) => wrongParts(issue, leftOut));
    rest = wrong.reduce(without, rest);
    leftOut.push(...wrong);
  }
  return { settings: undefined, leftOut };
}

function wrongParts(issue: z.core.$ZodIssue, leftOut: readonly Path[]): Path[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...issue.path, key]);
  const part = upToName(issue.path);
  return [leftOut.some((path) => isSame(path, part)) ? upToName(part.slice(0, -1)) : part];
}

/** Of a list the whole goes: taking out one entry would move the places of the others. */
function upToName(path: Path): Path {
  return path.slice(0, path.findLastIndex((step) => typeof step !== 'number') + 1);
}

function without(value: unknown, path: Path): unknown {
  const parent = path.slice(0, -1);
  const last = path.at(-1);
  return update(value, parent, (at) =>
    isFields(at) ? Object.fromEntries(Object.entries(at).filter(([key]) => key !== last)) : at,
  );
}

function isSame(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i]);
}
