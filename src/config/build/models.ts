import { isDeepStrictEqual } from 'node:util';
import { compileGlob, compileGlobs, covers } from '../../policy/glob.ts';
import { excludesItself, implies } from '../../policy/rules/implies.ts';
import type { RouteOptions } from '../../policy/rules/schema.ts';
import type { ModelSettings, Settings } from '../schema/schema.ts';
import { listOf, suggest } from '../source/problems.ts';
import type { ProblemSink } from '../source/report.ts';
import { buildHeaders, buildParameters, type Parameters, type StaticHeader } from './parameters.ts';
import type { ProviderConfig } from './providers.ts';

/** A provider and the model's name there; without a name, the one that was asked for. */
export interface ModelTarget {
  readonly provider: string;
  readonly model?: string;
  /** What is changed in bodies for it. */
  readonly parameters?: Parameters;
  readonly headers?: readonly StaticHeader[];
  /** Set if it is one of several among which sessions are spread: its share, in proportion to the others. */
  readonly weight?: number;
}

export interface ModelEntry {
  readonly match: string;
  /** Set if it serves only some requests. */
  readonly conditions?: RouteOptions;
  /** Whether `match` holds a `*`. */
  readonly isPattern: boolean;
  /** The provider, or those among which sessions are spread; then the fallbacks in order. */
  readonly targets: readonly [ModelTarget, ...ModelTarget[]];
  /** Set if bodies that are built for it don't mark what its host is to cache. */
  readonly promptCache?: 'off';
  /** Set if content that a provider can't take is refused, and not described in its place. */
  readonly unsupportedContent?: 'refuse';
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** US$ per million tokens. */
  readonly pricing?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly longCacheWrite: number;
  };
}

/** The entry for a requested model name: the first that serves every request; if there is none, the first that matches. */
export type FindModel = (name: string) => ModelEntry | undefined;

export function buildModels(
  all: readonly ModelSettings[],
  providers: ReadonlyMap<string, ProviderConfig>,
  report: ProblemSink,
): readonly ModelEntry[] {
  const missing = new Map<string, MissingPart>();
  for (const [i, settings] of all.entries()) {
    checkTargets(i, settings, providers, { report, missing });
  }
  warnOfUnreached(all, report);
  for (const { path, reason, providers: names, models } of missing.values()) {
    const who =
      names.size === 1 ? `provider ${[...names][0]} is` : `providers ${listOf([...names], 'and')} are`;
    const also = models.size === 1 ? '' : ` (${models.size} entries of models)`;
    report.warn(path, `${who} not configured: ${reason}${also}`);
  }
  return all.map((settings, i) => buildModel(settings, ['models', i], report));
}

/** What providers of models lack, such as a variable: one warning, at the first model that needs it. */
interface MissingPart {
  readonly path: readonly PropertyKey[];
  readonly reason: string;
  readonly providers: Set<string>;
  readonly models: Set<number>;
}

/** Entries without conditions first: they are what a name stands for. */
export function buildModelFinder(entries: readonly ModelEntry[]): FindModel {
  const plain = entries.filter(({ conditions }) => conditions === undefined);
  const all = plain.length === entries.length ? plain : [...plain, ...entries];
  const firstMatch = compileGlobs(all.map(({ match }) => match));
  return (name) => all[firstMatch(name)];
}

/** The numbers of the entries that may serve a name, in their order: up to the first without conditions. */
export function buildEntryFinder(entries: readonly ModelEntry[]): (name: string) => readonly number[] {
  const plain = entries.flatMap(({ conditions }, i) => (conditions === undefined ? [i] : []));
  const firstPlain = compileGlobs(plain.map((i) => entries[i]?.match ?? ''));
  const conditional = entries.flatMap(({ match, conditions }, i) =>
    conditions === undefined ? [] : [{ i, matches: compileGlob(match) }],
  );
  return (name) => {
    const last = plain[firstPlain(name)] ?? Number.POSITIVE_INFINITY;
    const before = conditional.filter(({ i, matches }) => i < last && matches(name)).map(({ i }) => i);
    return Number.isFinite(last) ? [...before, last] : before;
  };
}

/** Models that settings name; one that no entry serves is an error. */
export function checkNamedModels(
  { default_model, agent_models }: Pick<Settings, 'default_model' | 'agent_models'>,
  findModel: FindModel,
  report: ProblemSink,
): void {
  const ofAgents = Object.entries(agent_models).map(
    ([role, name]) => [['agent_models', role], name] as const,
  );
  for (const [path, name] of [[['default_model'], default_model] as const, ...ofAgents]) {
    if (name === undefined || findModel(name) !== undefined) continue;
    report.error(path, `no entry of models serves "${name}"`);
  }
}

function buildModel(settings: ModelSettings, path: readonly PropertyKey[], report: ProblemSink): ModelEntry {
  const { match, pricing, context_window, max_output_tokens, prompt_cache, unsupported_content } = settings;
  const { when, unless } = settings;
  return {
    match,
    ...((when ?? unless) !== undefined && { conditions: { when, unless } }),
    isPattern: match.includes('*'),
    targets: placedTargets(settings, path).map((placed) =>
      toTarget(placed, report),
    ) as unknown as ModelEntry['targets'], // it has one
    ...(prompt_cache === 'off' && { promptCache: prompt_cache }),
    ...(unsupported_content === 'refuse' && { unsupportedContent: unsupported_content }),
    ...(context_window !== undefined && { contextWindow: context_window }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(pricing !== undefined && {
      pricing: {
        input: pricing.input,
        output: pricing.output,
        cacheRead: pricing.cache_read ?? pricing.input,
        cacheWrite: pricing.cache_write ?? pricing.input,
        longCacheWrite: pricing.cache_write_1h ?? pricing.cache_write ?? pricing.input,
      },
    }),
  };
}

type TargetSettings = Omit<ModelSettings['fallbacks'][number], 'provider'> & {
  readonly provider: string;
  readonly weight?: number;
};

/** The targets that an entry names, in the order in which they are tried. */
export function targetsIn(settings: ModelSettings): readonly TargetSettings[] {
  return placedTargets(settings, []).map(({ target }) => target);
}

interface PlacedTarget {
  readonly target: TargetSettings;
  readonly path: readonly PropertyKey[];
}

/** The same with their places in the file. */
function placedTargets(settings: ModelSettings, path: readonly PropertyKey[]): readonly PlacedTarget[] {
  const { targets, fallbacks, provider = '' } = settings;
  const placed = (all: readonly TargetSettings[], name: string) =>
    all.map((target, i) => ({ target, path: [...path, name, i] }));
  const first =
    targets === undefined ? [{ target: { ...settings, provider }, path }] : placed(targets, 'targets');
  return [...first, ...placed(fallbacks, 'fallbacks')];
}

function toTarget({ target, path }: PlacedTarget, report: ProblemSink): ModelTarget {
  const { provider, model, weight } = target;
  const settings = target;
  const parameters = buildParameters(path, settings, report);
  const headers = buildHeaders(path, settings, report);
  return {
    provider,
    ...(model !== undefined && { model }),
    ...(parameters !== undefined && { parameters }),
    ...(headers !== undefined && { headers }),
    ...(weight !== undefined && { weight }),
  };
}

/** Most earlier entries with conditions that one is compared with, so that the time stays linear in their number. */
const comparedEntries = 100;

/** Warns of entries that are never taken: one before them takes all that they would, or their conditions never hold. */
function warnOfUnreached(all: readonly ModelSettings[], report: ProblemSink): void {
  // A star in a name that is looked up is matched by stars alone: it stands for all the names that it matches.
  const plain = all.flatMap((settings, i) => (hasConditions(settings) ? [] : [i]));
  const firstPlain = compileGlobs(plain.map((i) => all[i]?.match ?? ''));
  const compared: { readonly i: number; readonly settings: ModelSettings }[] = [];
  for (const [i, settings] of all.entries()) {
    const { match } = settings;
    const isConditional = hasConditions(settings);
    const earlier = isConditional ? compared.find((one) => takesAll(one.settings, settings)) : undefined;
    const first = earlier?.i ?? plain[firstPlain(match)] ?? i;
    if (first < i) {
      const which = earlier === undefined ? '' : ', and its conditions hold whenever these do';
      const message = `never reached: "${all[first]?.match}" comes before it and matches the same${which}`;
      report.warn(['models', i, 'match'], message);
    } else if (excludesItself(settings)) {
      report.warn(['models', i, 'unless'], 'never reached: unless holds whenever when does');
    } else if (isConditional && compared.length < comparedEntries) compared.push({ i, settings });
  }
}

function takesAll(earlier: ModelSettings, { match, when = {}, unless }: ModelSettings): boolean {
  return (
    covers(earlier.match, match) &&
    implies(when, earlier.when ?? {}) &&
    (earlier.unless === undefined || isDeepStrictEqual(earlier.unless, unless))
  );
}

function hasConditions({ when, unless }: ModelSettings): boolean {
  return when !== undefined || unless !== undefined;
}

function checkTargets(
  i: number,
  settings: ModelSettings,
  providers: ReadonlyMap<string, ProviderConfig>,
  { report, missing }: { readonly report: ProblemSink; readonly missing: Map<string, MissingPart> },
): void {
  checkSpread(['models', i], settings, { providers, report });
  for (const { target, path: at } of placedTargets(settings, ['models', i])) {
    const { provider: name } = target;
    const provider = providers.get(name);
    if (provider?.isConfigured || name === '' || report.isLeftOut(['providers', name])) continue;
    const path = [...at, 'provider'];
    if (provider === undefined) {
      report.error(path, `there is no provider ${name}`, { hint: suggest(name, [...providers.keys()]) });
    } else {
      const { disabledBecause: reason = 'something is missing' } = provider;
      // An unset variable is the same for all that name it; any other lack is the provider's own.
      const key = reason.endsWith(' not set') ? reason : name;
      const part = missing.get(key) ?? { path, reason, providers: new Set(), models: new Set() };
      part.providers.add(name);
      part.models.add(i);
      missing.set(key, part);
    }
  }
}

/** An entry has one target or several; each of several stands there once, with a key of the gateway's. */
function checkSpread(
  path: readonly PropertyKey[],
  settings: ModelSettings,
  {
    providers,
    report,
  }: { readonly providers: ReadonlyMap<string, ProviderConfig>; readonly report: ProblemSink },
): void {
  const { targets, provider } = settings;
  if (targets === undefined) {
    if (provider === undefined) report.error(path, 'names no provider: it needs provider or targets');
    return;
  }
  for (const name of ['provider', 'model', 'set', 'default', 'remove', 'headers'] as const) {
    if (settings[name] === undefined) continue;
    report.error([...path, name], 'stands beside targets: write it into each of them', { part: 'key' });
  }
  for (const [i, target] of targets.entries()) {
    const at = [...path, 'targets', i];
    const first = targets.findIndex(
      (each) => each.provider === target.provider && each.model === target.model,
    );
    if (first < i)
      report.error(at, `is the same as target ${first}: write it once, with the sum of the weights`);
    if (providers.get(target.provider)?.credentials !== 'client') continue;
    const message = "its requests carry the client's own login, which keeps to one host: make it a fallback";
    report.error([...at, 'provider'], message);
  }
}
