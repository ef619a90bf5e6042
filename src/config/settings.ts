import type { z } from 'zod';
import type { SourceDocument } from './document.ts';
import { describeIssues } from './issues.ts';
import { findNotYet } from './not-yet.ts';
import { listOf } from './problems.ts';
import { withDialectDefaults } from './providers.ts';
import type { Report } from './report.ts';
import { type Settings, settingsSchema } from './schema.ts';
import type { Reference } from './substitute.ts';

type Path = readonly PropertyKey[];

/** What a file (or nothing) says, with every default filled in; undefined when the report has errors. */
export interface ReadSettings {
  readonly settings: Settings | undefined;
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
}

interface Inputs {
  /** The value of the file after substitution. */
  readonly value: unknown;
  readonly references: readonly Reference[];
  readonly source: SourceDocument | undefined;
  readonly report: Report;
}

export function readSettings({ value: written, references, source, report }: Inputs): ReadSettings {
  const value = withAbsentParts(written);
  for (const { path, accepted } of findNotYet(value)) {
    const only = accepted.length === 0 ? '' : `; only ${listOf(accepted.map(String), 'or')} is`;
    report.error(path, `not available in this version${only}`, {
      part: accepted.length === 0 ? 'key' : 'value',
    });
  }
  const parsed = parse(value, references);
  if (!parsed.success) report.add(describeIssues(parsed.error.issues, value, source));
  const has = (key: string) => isObject(written) && Object.hasOwn(written, key);
  return {
    settings: parsed.success ? withProviderDefaults(parsed.data) : undefined,
    isSandboxMode: !has('providers') && !has('models') && !has('projects'),
    needsLocalKey: !has('projects'),
  };
}

/** What an absent `providers`, `models` or `projects` stands for. */
function withAbsentParts(written: unknown): unknown {
  if (!isObject(written)) return written;
  const providers = written.providers ?? { sandbox: { dialect: 'sandbox' } };
  const sandbox = isObject(providers)
    ? Object.keys(providers).find((name) => {
        const provider = providers[name];
        return isObject(provider) && provider.dialect === 'sandbox';
      })
    : undefined;
  const models = sandbox === undefined ? [] : [{ match: 'sandbox-*', provider: sandbox }];
  return { providers, models, projects: { local: {} }, ...written };
}

function withProviderDefaults(settings: Settings): Settings {
  const entries = Object.entries(settings.providers ?? {}).map(([name, one]) => [
    name,
    withDialectDefaults(one),
  ]);
  return { ...settings, providers: Object.fromEntries(entries) };
}

/** Variables are text; where the schema wants a number or a truth value, one that reads as such is taken. */
function parse(value: unknown, references: readonly Reference[]): z.ZodSafeParseResult<Settings> {
  const first = settingsSchema.safeParse(value);
  if (first.success || references.length === 0) return first;
  let converted = value;
  for (const issue of first.error.issues) {
    if (issue.code !== 'invalid_type') continue;
    if (!references.some(({ path }) => isSame(path, issue.path))) continue;
    converted = update(converted, issue.path, (text) => toScalar(String(text), issue.expected));
  }
  return converted === value ? first : settingsSchema.safeParse(converted);
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
  if (!isObject(value)) return value;
  return { ...value, [head]: update(value[String(head)], rest, change) };
}

function isSame(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
