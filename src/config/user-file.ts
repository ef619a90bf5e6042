import { toFields } from '../dialects/fields.ts';
import {
  type ConditionsOptions,
  type PolicyOptions,
  policySchema,
  type RuleOptions,
} from '../policy/rules/schema.ts';
import type { LimitsConfig } from './build/keys.ts';
import { targetsIn } from './build/models.ts';
import { defaultBaseUrl } from './build/providers.ts';
import { parseFile } from './parse-file.ts';
import { mapValues, type Settings } from './schema/schema.ts';
import type { SourceDocument } from './source/document.ts';
import { type FoundConfig, findUserFile, readConfigFile } from './source/find.ts';
import type { Problem } from './source/problems.ts';
import { realPathOf } from './source/real-path.ts';
import type { Borrowed, ProblemSink } from './source/report.ts';
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
 * everybody here, what no project there may use no project may use here, a text that goes to one provider alone there
 * goes to no other here, a page that is switched off stays off, whole requests that are not to be recorded are not, and its
 * secret for masking holds where the file has none.
 */
export function withUserProtection(
  user: UserFile & { readonly settings: Settings },
  { settings, references, allowed }: Used,
): Protected {
  const bounds = boundsOf(user.settings);
  const inForce = [...policiesInForce(user), ...Object.values(bounds).map(({ name }) => name)];
  const waived = inForce.filter((name) => allowed.has(waiverOf(name).id));
  const holding = inForce.filter((name) => !waived.includes(name));
  const { limits, models, routes } = Object.fromEntries(
    Object.entries(bounds).filter(([, { name }]) => holding.includes(name)),
  ) as Bounds;
  const idsHere = new Set(Object.values(settings.policies).flatMap(({ rules }) => rules.map(({ id }) => id)));
  const own = ownProviders(user);
  const policies: Settings['policies'] = {
    ...mapValues(user.settings.policies, (policy) => ({
      ...policy,
      rules: policy.rules.map((rule) => atHostsOfModels(rule, own)),
    })),
    ...(models && { [models.name]: models.policy }),
    ...(routes && { [routes.name]: routes.policy }),
  };
  const providers = { own: user.settings.providers ?? {}, here: settings.providers ?? {} };
  const held = holding
    .filter((name) => policies[name] !== undefined)
    .map((name) => [name, holdEverywhere(policies[name], { idsHere, providers })] as const);
  const hasSecret = settings.masking.secret === null && user.settings.masking.secret !== null;
  const isPageOff = user.settings.inspector.enabled === false;
  const isWithoutBodies = toFields(toFields(user.source?.value).records).bodies === false;
  const rules = new Map(held.map(([name, { indexes }]) => [prefix + name, indexes]));
  const pathThere = ([section, name, part, index, ...rest]: Path): Path | undefined => {
    if (section === 'masking' && name === 'secret' && hasSecret) return [section, name];
    if (section === 'inspector' && name === 'enabled' && isPageOff) return [section, name];
    if (section === 'records' && name === 'bodies' && isWithoutBodies) return [section, name];
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
      ...(limits && {
        projects: mapValues(settings.projects ?? {}, (project) => ({
          ...project,
          limits: withinLimits(project.limits, limits.most),
        })),
      }),
      ...(hasSecret && { masking: user.settings.masking }),
      ...(isPageOff && { inspector: { ...settings.inspector, enabled: false } }),
      ...(isWithoutBodies && { records: { ...settings.records, bodies: false } }),
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

/** What no project of the user's own may do, by the name under which the user can give the restriction up. */
interface Bounds {
  /** Of each limit that all of them have, the largest. */
  readonly limits?: { readonly name: string; readonly most: LimitsConfig };
  /** A policy for the models that any of them may use. */
  readonly models?: { readonly name: string; readonly policy: PolicyOptions };
  /** A policy for the texts that the model list sends to some providers alone. */
  readonly routes?: { readonly name: string; readonly policy: PolicyOptions };
}

function boundsOf({ projects = {}, models: entries = [] }: Settings): Bounds {
  const all = Object.values(projects);
  const whose = Object.keys(projects).join(', ');
  const limits = all.flatMap(({ limits }) => (limits?.mode === 'enforce' ? [limits] : []));
  const [first] = limits;
  const most = limits.length < all.length ? [] : maxOfAll(limits);
  const models = all.some((project) => project.models === undefined)
    ? []
    : all.flatMap((project) => project.models ?? []);
  const name = `models of ${whose}`;
  const routes = routesOfTexts(entries);
  return {
    ...(routes.length > 0 && { routes: { name: routesName, policy: policyForRoutes(routes) } }),
    ...(first !== undefined &&
      most.length > 0 && {
        limits: {
          name: `limits of ${whose}`,
          most: { ...withoutAmounts(first), ...Object.fromEntries(most) },
        },
      }),
    ...(models.length > 0 && { models: { name, policy: policyForModels(name, models) } }),
  };
}

const amountsOf = (limits: LimitsConfig) =>
  Object.entries(limits).flatMap(([name, amount]): [string, number][] =>
    typeof amount === 'number' ? [[name, amount]] : [],
  );

/** The limits that all have, each with the largest amount. */
function maxOfAll(limits: readonly LimitsConfig[]): readonly (readonly [string, number])[] {
  const amounts = limits.map((each) => new Map(amountsOf(each)));
  return [...(amounts[0] ?? [])].flatMap(([name]) => {
    const found = amounts.map((each) => each.get(name)).filter((amount) => amount !== undefined);
    return found.length < amounts.length ? [] : [[name, Math.max(...found)] as const];
  });
}

function withoutAmounts({ unpriced, time_zone, mode }: LimitsConfig): LimitsConfig {
  return { unpriced, time_zone, mode };
}

function policyForModels(name: string, models: readonly string[]): PolicyOptions {
  const message = `your own configuration allows other models; gateway trust --without "${name}" uses this file without that`;
  const unless = { model: [...new Set(models)] };
  return policySchema.parse({
    rules: [{ id: 'models', action: 'block', unless, reason: 'model.not_allowed', message }],
  });
}

const routesName = 'routes of your own models';

type Entries = NonNullable<Settings['models']>;

/** Where texts with something in them may go. */
interface TextRoute {
  readonly when: ConditionsOptions;
  readonly providers: readonly string[];
}

const namesText = (conditions: ConditionsOptions | undefined): conditions is ConditionsOptions =>
  (conditions?.text ?? conditions?.check) !== undefined;

/** An entry takes a text by its `when`; by its `unless` it leaves one to all entries without that. */
function routesOfTexts(entries: Entries): readonly TextRoute[] {
  const providersIn = (some: Entries) => [
    ...new Set(some.flatMap((entry) => targetsIn(entry).map(({ provider }) => provider))),
  ];
  return entries.flatMap((entry): readonly TextRoute[] => {
    const { when, unless } = entry;
    const left = JSON.stringify(unless);
    const others = entries.filter((other) => JSON.stringify(other.unless) !== left);
    return [
      ...(namesText(when) ? [{ when, providers: providersIn([entry]) }] : []),
      ...(namesText(unless) ? [{ when: unless, providers: providersIn(others) }] : []),
    ];
  });
}

/** What the conditions of a model list say of a text, whatever model is asked for: files can give these any name. */
function policyForRoutes(routes: readonly TextRoute[]): PolicyOptions {
  const message = `your own configuration sends this to a provider that is not asked here; gateway trust --without "${routesName}" uses this file without that`;
  const rules = routes.map(({ when, providers }, i) => ({
    ...{ id: `route-${i + 1}`, action: 'block', reason: 'model.not_allowed', message, when },
    ...(providers.length > 0 && { unless: { provider: providers } }),
  }));
  return policySchema.parse({ rules });
}

/** A project's limits, each lowered to these. */
function withinLimits(own: LimitsConfig | undefined, most: LimitsConfig): LimitsConfig {
  // What is only watched limits nothing.
  if (own === undefined || own.mode === 'monitor') return most;
  const before = new Map(amountsOf(own));
  const amounts = amountsOf(most).map(
    ([name, amount]) => [name, Math.min(amount, before.get(name) ?? amount)] as const,
  );
  const hasBudget = amounts.some(([name]) => name.startsWith('usd_'));
  return { ...own, ...Object.fromEntries(amounts), ...(hasBudget && { unpriced: most.unpriced }) };
}

interface Held {
  readonly policy: PolicyOptions;
  /** Where each of its rules stands in the policy as it was written. */
  readonly indexes: readonly number[];
}

interface HeldIn {
  readonly idsHere: ReadonlySet<string>;
  readonly providers: BothProviders;
}

function holdEverywhere(policy: PolicyOptions | undefined, { idsHere, providers }: HeldIn): Held {
  const { rules: written = [], ...rest } = policy ?? {};
  const rules = written.flatMap((rule, index) => {
    const held = holdForAnyone(holdAtPlaces(rule, providers));
    if (held === undefined) return [];
    return [{ rule: idsHere.has(rule.id) ? { ...held, id: prefix + rule.id } : held, index }];
  });
  return {
    policy: { ...(rest as PolicyOptions), apply: 'all', rules: rules.map(({ rule }) => rule) }, // it has the rest
    indexes: rules.map(({ index }) => index),
  };
}

/** Those that the user's own file names, without any that stand for absent ones. */
function ownProviders({ source }: UserFile): readonly string[] {
  return Object.keys(toFields(toFields(source?.value).providers));
}

/** Whether a rule forbids something but for some models. */
function exceptsModels({ action, unless }: RuleOptions): boolean {
  return action !== 'allow' && unless?.model !== undefined && unless.provider === undefined;
}

/**
 * Names of models are those of the file that is used, which could give them to any. So what a rule allows to a model, or
 * doesn't forbid it, is so at the hosts of the user's own file alone.
 */
function atHostsOfModels(rule: RuleOptions, own: readonly string[]): RuleOptions {
  if (own.length === 0) return rule;
  const provider = [...own];
  const { action, when } = rule;
  if (exceptsModels(rule)) return { ...rule, unless: { ...rule.unless, provider } };
  const allows = action === 'allow' && when?.model !== undefined && when.provider === undefined;
  return allows ? { ...rule, when: { ...when, provider } } : rule;
}

/** Warns where the user's own file has no hosts by which the models are known that its rules don't forbid something. */
export function warnOfModelNames(
  user: UserFile & { readonly settings: Settings },
  report: ProblemSink,
): void {
  if (ownProviders(user).length > 0) return;
  const rules = policiesInForce(user).flatMap((name) => user.settings.policies[name]?.rules ?? []);
  const excepting = rules.filter(exceptsModels).map(({ id }) => id);
  if (excepting.length === 0) return;
  const message = `rules of your own except models by name (${excepting.join(', ')} in ${user.path}), and this file may give any model that name`;
  const hint = 'with providers in your own file, that holds at their hosts alone';
  report.add([{ severity: 'warning', path: [], message, hint }]);
}

type Providers = NonNullable<Settings['providers']>;

/** The user's own, and those of the file that is used. */
interface BothProviders {
  readonly own: Providers;
  readonly here: Providers;
}

/**
 * A rule for the same hosts: names of providers are those of the file, which could give them to any. So a rule that
 * forbids holds for the hosts that are meant, by whatever name, and for all that the user's own file doesn't know;
 * excepted are none but those that are meant.
 */
function holdAtPlaces(rule: RuleOptions, providers: BothProviders): RuleOptions | undefined {
  const isAllow = rule.action === 'allow';
  const when = atPlaces(rule.when, providers, isAllow ? 'meant' : 'any');
  const unless = atPlaces(rule.unless, providers, isAllow ? 'any' : 'meant');
  if (when === 'never') return undefined;
  const { when: _, unless: __, ...rest } = rule;
  return { ...rest, ...(when && { when }), ...(unless && unless !== 'never' && { unless }) };
}

/** The conditions with the names that these hosts have here; never, if it is none of those that are here. */
function atPlaces(
  conditions: ConditionsOptions | undefined,
  { own, here }: BothProviders,
  which: 'meant' | 'any',
): ConditionsOptions | 'never' | undefined {
  if (conditions?.provider === undefined) return conditions;
  const placesOf = (all: readonly (Providers[string] | undefined)[]) =>
    new Set(all.flatMap((each) => (each === undefined ? [] : [placeOf(each)])));
  const meant = placesOf(conditions.provider.map((name) => own[name]));
  const known = placesOf(Object.values(own));
  const names = Object.entries(here).flatMap(([name, provider]) => {
    const place = placeOf(provider);
    return meant.has(place) || (which === 'any' && !known.has(place)) ? [name] : [];
  });
  return names.length === 0 ? 'never' : { ...conditions, provider: names };
}

/** Where a provider's requests go, and through what. */
function placeOf({ dialect, base_url, proxy }: Providers[string]): string {
  return JSON.stringify([base_url ?? defaultBaseUrl(dialect) ?? dialect, proxy]);
}

/**
 * A rule for whoever asks: projects and keys are those of the file, which could give them any names. So a rule
 * that forbids holds for everybody, and one that allows something to some allows it to no one.
 */
function holdForAnyone(rule: RuleOptions | undefined): RuleOptions | undefined {
  if (rule === undefined) return undefined;
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

/** Warns of what the user's own file limits and this one doesn't: limits of keys, and those that not all projects have. */
export function warnOfLeftLimits(
  user: UserFile & { readonly settings: Settings },
  report: ProblemSink,
): void {
  const { limits, models: held } = boundsOf(user.settings);
  const kept = Object.keys(limits?.most ?? {});
  const limited = Object.entries(user.settings.projects ?? {}).filter(
    ([, { limits: own, models, keys }]) =>
      (own !== undefined && amountsOf(own).some(([name]) => !kept.includes(name))) ||
      (models !== undefined && held === undefined) ||
      keys.some((key) => key.limits !== undefined),
  );
  if (limited.length === 0) return;
  const names = limited.map(([name]) => name).join(', ');
  const message = `limits or models of your own projects (${names} in ${user.path}) do not hold here`;
  const hint =
    'what all of your own projects have holds; others, and those of keys, are for your own file alone';
  report.add([{ severity: 'warning', path: [], message, hint }]);
}
