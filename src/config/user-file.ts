import { toFields } from '../dialects/fields.ts';
import type { ConditionsOptions, PolicyOptions, RuleOptions } from '../policy/rules/schema.ts';
import { parseFile } from './parse-file.ts';
import type { Settings } from './schema/schema.ts';
import type { SourceDocument } from './source/document.ts';
import { type FoundConfig, findUserFile, readConfigFile } from './source/find.ts';
import type { Problem } from './source/problems.ts';
import { realPathOf } from './source/real-path.ts';
import type { Borrowed, Report } from './source/report.ts';
import type { Reference } from './source/substitute.ts';
import { waiverOf } from './trust/wants.ts';

type Path = readonly PropertyKey[];
type Environment = Readonly<Record<string, string | undefined>>;

const prefix = 'user:';

/** Whether a policy is one of the user's own file while another one is used: no file can give a policy such a name. */
export function isOfUser(policy: string): boolean {
  return policy.startsWith(prefix);
}

/** The name of such a policy, or the id of its rule, in the user's own file. */
export function withoutPrefix(name: string): string {
  return isOfUser(name) ? name.slice(prefix.length) : name;
}

/** The user's own file, where another one is used. */
export interface UserFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly source: SourceDocument | undefined;
  readonly references: readonly Reference[];
  /** Without what is wrong, where something is. */
  readonly settings: Settings | undefined;
  /** Each names the file. */
  readonly problems: readonly Problem[];
}

/** What of the user's own file holds over the file that is used; for messages, and for what follows both files. */
export interface UserProtection extends Pick<UserFile, 'path' | 'text'> {
  /** The policies that hold, by their names in it. */
  readonly policies: readonly string[];
  /** Those that the user has allowed this file to be used without. */
  readonly waived: readonly string[];
}

/** Undefined if there is none, or if it is the file that is used. Throws config.invalid if it can't be read. */
export async function readUserFile(
  used: FoundConfig | undefined,
  env: Environment,
): Promise<UserFile | undefined> {
  if (used === undefined || used.from === 'user') return undefined;
  const path = await findUserFile(env);
  if (path === undefined || realPathOf(path) === realPathOf(used.path)) return undefined;
  const text = await readConfigFile(path, { mustBeFile: true });
  const needs = ([section]: Path) => section === 'policies' || section === 'masking';
  const { source, references, report, read } = await parseFile(text, { env, needs });
  const problems = report.problems.map((problem) => ({ ...problem, file: path }));
  return { path, text, source, references, settings: read?.settings, problems };
}

/** A file's settings with what of the user's own holds over them. */
export interface Protected {
  readonly settings: Settings;
  readonly references: readonly Reference[];
  readonly borrowed: Borrowed;
  readonly protection: UserProtection;
}

interface Used {
  readonly settings: Settings;
  readonly references: readonly Reference[];
  /** Ids of what this user allowed the file. */
  readonly allowed: ReadonlySet<string>;
}

/**
 * The settings of a file with what the user's own protects: every policy that applies to anybody there applies to
 * everybody here, a page that is switched off stays off, and its secret for masking holds where the file has none.
 */
export function withUserProtection(
  user: UserFile & { readonly settings: Settings },
  { settings, references, allowed }: Used,
): Protected {
  const inForce = policiesInForce(user);
  const waived = inForce.filter((name) => allowed.has(waiverOf(name).id));
  const holding = inForce.filter((name) => !waived.includes(name));
  const idsHere = new Set(Object.values(settings.policies).flatMap(({ rules }) => rules.map(({ id }) => id)));
  const held = holding.map((name) => [name, holdEverywhere(user.settings.policies[name], idsHere)] as const);
  const hasSecret = settings.masking.secret === null && user.settings.masking.secret !== null;
  const isPageOff = user.settings.inspector.enabled === false;
  const rules = new Map(held.map(([name, { indexes }]) => [prefix + name, indexes]));
  const pathThere = ([section, name, part, index, ...rest]: Path): Path | undefined => {
    if (section === 'masking' && name === 'secret' && hasSecret) return [section, name];
    if (section === 'inspector' && name === 'enabled' && isPageOff) return [section, name];
    const indexes = section === 'policies' ? rules.get(String(name)) : undefined;
    if (indexes === undefined) return undefined;
    const there = [section, withoutPrefix(String(name)), part, indexes[Number(index)] ?? index, ...rest];
    return there.filter((step) => step !== undefined) as Path; // without the steps that the path doesn't have
  };
  return {
    settings: {
      ...settings,
      policies: {
        ...settings.policies,
        ...Object.fromEntries(held.map(([name, { policy }]) => [prefix + name, policy])),
      },
      ...(hasSecret && { masking: user.settings.masking }),
      ...(isPageOff && { inspector: { ...settings.inspector, enabled: false } }),
    },
    references: hasSecret
      ? [...references, ...user.references.filter(({ path: [section] }) => section === 'masking')]
      : references,
    borrowed: { file: user.path, source: user.source, references: user.references, pathThere },
    protection: { path: user.path, text: user.text, policies: holding, waived },
  };
}

/** By name: those for all, and those that a project or key names. */
function policiesInForce({
  settings,
  source,
}: UserFile & { readonly settings: Settings }): readonly string[] {
  const { policies, projects = {} } = settings;
  const named = new Set(
    Object.values(projects).flatMap((project) => [
      ...project.policies,
      ...project.keys.flatMap((key) => key.policies),
    ]),
  );
  // Without those that stand for absent ones in sandbox mode.
  return Object.keys(toFields(toFields(source?.value).policies)).filter(
    (name) => policies[name] !== undefined && (policies[name].apply === 'all' || named.has(name)),
  );
}

interface Held {
  readonly policy: PolicyOptions;
  /** Where each of its rules stands in the policy as it was written. */
  readonly indexes: readonly number[];
}

function holdEverywhere(policy: PolicyOptions | undefined, idsHere: ReadonlySet<string>): Held {
  const { rules: written = [], ...rest } = policy ?? {};
  const rules = written.flatMap((rule, index) => {
    const held = holdForAnyone(rule);
    if (held === undefined) return [];
    return [{ rule: idsHere.has(rule.id) ? { ...held, id: prefix + rule.id } : held, index }];
  });
  return {
    policy: { ...(rest as PolicyOptions), apply: 'all', rules: rules.map(({ rule }) => rule) }, // it has the rest
    indexes: rules.map(({ index }) => index),
  };
}

/**
 * A rule for whoever asks: projects and keys are those of the file, which could give them any names. So a rule
 * that forbids holds for everybody, and one that allows something to some allows it to nobody.
 */
function holdForAnyone(rule: RuleOptions): RuleOptions | undefined {
  const { when, unless, ...rest } = rule;
  if (!namesCaller(when) && !namesCaller(unless)) return rule;
  if (rule.action === 'allow') {
    const others = withoutCaller(unless);
    if (namesCaller(when) || others === undefined) return undefined;
    return { ...rest, ...(when && { when }), unless: others };
  }
  const others = withoutCaller(when);
  return { ...rest, ...(others && { when: others }), ...(unless && !namesCaller(unless) && { unless }) };
}

function namesCaller(conditions: ConditionsOptions | undefined): boolean {
  return conditions?.project !== undefined || conditions?.key !== undefined;
}

/** Undefined if nothing is left. */
function withoutCaller(conditions: ConditionsOptions | undefined): ConditionsOptions | undefined {
  const { project: _, key: __, ...others } = conditions ?? {};
  return Object.keys(others).length === 0 ? undefined : others;
}

/** Warns of what the user's own file limits and this one doesn't: limits and models are those of its projects. */
export function warnOfLeftLimits(user: UserFile & { readonly settings: Settings }, report: Report): void {
  const limited = Object.entries(user.settings.projects ?? {}).filter(
    ([, { limits, models, keys }]) =>
      limits !== undefined || models !== undefined || keys.some((key) => key.limits !== undefined),
  );
  if (limited.length === 0) return;
  const names = limited.map(([name]) => name).join(', ');
  const message = `limits and models of your own projects (${names} in ${user.path}) do not hold here`;
  report.add([
    { severity: 'warning', path: [], message, hint: 'projects are those of the file that is used' },
  ]);
}
