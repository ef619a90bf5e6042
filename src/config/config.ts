import { randomBytes } from 'node:crypto';
import { decodePercent } from '../lib/decode-percent.ts';
import type { CheckService } from '../policy/checks/check-book.ts';
import {
  type CompiledPolicies,
  compilePolicies,
  type PolicyProblem,
  type PolicySource,
} from '../policy/compile.ts';
import { type PolicyOptions, policySchema } from '../policy/rules/schema.ts';
import {
  createKeyRing,
  hashKey,
  type KeyLimits,
  type KeyRecord,
  type KeyRing,
  type Writable,
} from './build/keys.ts';
import {
  buildModelFinder,
  buildModels,
  checkNamedModels,
  type FindModel,
  type ModelEntry,
} from './build/models.ts';
import {
  buildProjects,
  collectKeys,
  type KeySource,
  modelPolicyName,
  type ProjectConfig,
} from './build/projects.ts';
import { buildProviders, type ProviderConfig } from './build/providers.ts';
import type { ProxyEnvironment } from './build/proxy.ts';
import { buildInspector, buildSections, type InspectorConfig } from './build/sections.ts';
import { warnOfUnencrypted } from './build/services.ts';
import { warnOfUnused } from './build/unused.ts';
import type { Settings } from './schema/schema.ts';
import type { ModelTable } from './source/model-table.ts';
import type { CaFile, KeyFile } from './source/named-files.ts';
import { suggest } from './source/problems.ts';
import { createReport, type ProblemSink, warnIfWritten } from './source/report.ts';
import type { Reference } from './source/substitute.ts';

/** A key made at run time rather than written in the file. */
export interface AddedKey {
  readonly id: string;
  readonly project: string;
  readonly value: string;
}

/** What a configuration is made from: plain data, secrets and all, from which another process makes the same one. */
export interface ConfigSource {
  readonly settings: Settings;
  readonly references: readonly Reference[];
  readonly keyFiles: ReadonlyMap<string, KeyFile>;
  readonly caFiles: ReadonlyMap<string, CaFile>;
  readonly proxies: ProxyEnvironment;
  /** Prices and sizes that the user has taken over. */
  readonly modelTable?: ModelTable | undefined;
  readonly nowMs: number;
  readonly hash: string;
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
  readonly addedKeys: readonly AddedKey[];
  /** What placeholders are made with if the settings name nothing. */
  readonly maskSecret: string;
}

/** A configuration, frozen and ready: rules compiled, keys hashed, numbers in milliseconds and bytes. */
export interface Config extends Readonly<ReturnType<typeof buildSections>> {
  /** The file has neither providers, models nor projects, or there is none. */
  readonly isSandboxMode: boolean;
  /** No projects are configured: `serve` makes a key for the project `local` and adds it. */
  readonly needsLocalKey: boolean;
  /** SHA-256 (hex) of the file and of what it took from the environment, secrets left out. */
  readonly hash: string;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly models: readonly ModelEntry[];
  readonly findModel: FindModel;
  /** What `send` and `chat` use by default. */
  readonly defaultModel?: string;
  /** What coding agents ask for. */
  readonly agentModels: Settings['agent_models'];
  readonly projects: ReadonlyMap<string, ProjectConfig>;
  readonly keys: KeyRing;
  /** Every configured secret, passwords of databases included, for scrubbing what is logged or passed on. */
  readonly secrets: readonly string[];
  /** What the keys' policies were compiled from, for threads that need their own. */
  readonly policySource: PolicySource;
  /** Those that rules and routes ask about texts. */
  readonly askedServices: readonly CheckService[];
  /** Every limit of projects and keys. */
  readonly limits: readonly KeyLimits[];
  readonly inspector: InspectorConfig;
  /** For `rebuildConfig` in another process. */
  readonly source: ConfigSource;
  /** The same configuration with one more key, which is treated as a secret like any other. */
  withKey(key: AddedKey): Config;
  /** A rule masks, and the file names no secret to make placeholders with: `serve` keeps one and adds it. */
  readonly needsMaskSecret: boolean;
  /** The same configuration with this secret, so that placeholders stay the same after a restart. */
  withMaskSecret(secret: string): Config;
}

export interface ConfigInputs extends Omit<ConfigSource, 'addedKeys' | 'maskSecret'> {
  readonly maskSecret?: string | undefined;
  readonly report: ProblemSink;
  readonly failedTests?: 'error' | 'warning' | undefined;
}

/** Checks everything the schema can't see and builds the ready configuration; problems go to the report. */
export function buildConfig(inputs: ConfigInputs): Config {
  const { report, failedTests: _, maskSecret: given, ...source } = inputs;
  const { settings, hash, isSandboxMode, needsLocalKey } = source;
  const providers = deepFreeze(buildProviders(inputs));
  const models = deepFreeze(buildModels(settings.models ?? [], providers, report));
  const findModel = buildModelFinder(models);
  const routes = models.map(({ conditions }) => conditions);
  const projects = deepFreeze(buildProjects(inputs));
  const keys = collectKeys(inputs);
  checkNamedModels(settings, findModel, report);
  checkNamedProviders(settings.policies, providers, report);
  warnOfUnencrypted(settings, report);
  const defaultModel = settings.default_model ?? (isSandboxMode ? 'sandbox-mini' : undefined);
  const inspector = buildInspector(inputs);
  warnOfUnused(settings, isSandboxMode, report);
  const policies = withModelPolicies(settings.policies, projects, report);
  const providerKeys = [
    ...[...providers.values()].flatMap(secretsOf),
    ...models.flatMap(({ targets }) =>
      targets.flatMap(({ headers = [] }) => headers.flatMap(({ secrets }) => secrets)),
    ),
  ];
  const passwords = databasePasswords(settings);
  const masks = Object.values(policies).some(({ rules }) => rules.some(({ action }) => action === 'mask'));
  const ownSecret = settings.masking.secret ?? undefined;
  if (ownSecret !== undefined) warnIfWritten(report, ['masking', 'secret'], 'a secret');

  const assemble = (
    sources: readonly KeySource[],
    { addedKeys, maskSecret }: Pick<ConfigSource, 'addedKeys' | 'maskSecret'>,
  ): Config => {
    const secrets = [
      ...providerKeys,
      ...sources.flatMap(({ plain }) => plain ?? []),
      ...(inspector.password === undefined ? [] : [inspector.password]),
      ...(ownSecret === undefined ? [] : [ownSecret]),
    ];
    const keyHashes = sources.flatMap(({ hash, previous = [] }) => [
      hash,
      ...previous.map((replaced) => replaced.hash),
    ]);
    const compiled = compilePolicies(policies, secrets, {
      maskSecret: ownSecret ?? maskSecret,
      keyHashes,
      routes,
    });
    if (sources === keys) reportPolicies(compiled.problems, inputs);
    const entryOf = (source: KeySource) => ({
      hash: source.hash,
      record: toRecord(source, projects.get(source.project), compiled),
    });
    const replaced = sources.flatMap((source) =>
      (source.previous ?? []).map((key) => entryOf({ ...source, ...key })),
    );
    const ring = createKeyRing(sources.map(entryOf), replaced);
    return Object.freeze({
      isSandboxMode,
      needsLocalKey,
      hash,
      providers,
      models,
      findModel,
      ...(defaultModel !== undefined && { defaultModel }),
      agentModels: settings.agent_models,
      projects,
      keys: ring,
      secrets: [...secrets, ...passwords],
      policySource: Object.freeze({
        policies,
        secrets,
        keyHashes,
        ...(routes.some((route) => route !== undefined) && { routes }),
        ...(masks && { maskSecret: ownSecret ?? maskSecret }),
      }),
      ...buildSections(settings, isSandboxMode),
      askedServices: compiled.checks?.services ?? [],
      limits: [...projects.values(), ...sources].flatMap(({ limits }) => limits ?? []),
      inspector,
      source: { ...source, addedKeys, maskSecret },
      withKey: (added: AddedKey) => {
        const { id, project, value } = added;
        const key = { id, project, hash: hashKey(value), plain: value, policies: [] };
        return assemble([...sources, key], { addedKeys: [...addedKeys, added], maskSecret });
      },
      needsMaskSecret: masks && ownSecret === undefined,
      withMaskSecret: (secret: string) => assemble(sources, { addedKeys, maskSecret: secret }),
    });
  };
  // Unless one is added, placeholders are those of this process and the ones that rebuild its configuration.
  const maskSecret = given || (masks ? randomBytes(32).toString('base64url') : '');
  return assemble(keys, { addedKeys: [], maskSecret });
}

function toRecord(
  { id, project: name, expiresMs, policies, limits }: KeySource,
  project: ProjectConfig | undefined,
  compiled: CompiledPolicies,
): KeyRecord {
  const names = [...(project?.policies ?? []), ...policies];
  // Spreads would take several times as long, and there may be thousands of keys.
  const record: Writable<KeyRecord> = { id, project: name, policies: compiled.select(names) };
  if (expiresMs !== undefined) record.expiresMs = expiresMs;
  if (project?.models !== undefined) record.models = project.models;
  const both = [project?.limits, limits].filter((each) => each !== undefined);
  if (both.length > 0) record.limits = both;
  return Object.freeze(record);
}

/** Its keys, and what its proxy asks for. */
function secretsOf({ apiKey, keys = [], proxy }: ProviderConfig): string[] {
  const password = proxy === undefined ? '' : decodePercent(new URL(proxy).password);
  return [apiKey ?? '', ...keys.map(({ value }) => value), password].filter((secret) => secret !== '');
}

/** Of Redis and PostgreSQL, as they are written and as they are meant. */
function databasePasswords({ state, records, plants }: Settings): string[] {
  const urls = [state, records.ledger_database, plants.store.database];
  return urls.flatMap((url) => {
    const written = url === null ? undefined : /^\w+:\/\/[^/@]*?:([^/]*)@/.exec(url)?.[1];
    if (written === undefined) return [];
    // Without words such as "postgres", which every other answer may hold.
    return [...new Set([written, decodePercent(written)])].filter(
      (password) => !/^[a-z]{1,15}$/i.test(password),
    );
  });
}

/** The configuration that another process found to be valid. */
export function rebuildConfig({ addedKeys, ...source }: ConfigSource): Config {
  const report = createReport({ source: undefined, references: source.references });
  return addedKeys.reduce((config, key) => config.withKey(key), buildConfig({ ...source, report }));
}

/** The `models` of a project are the commonest rule, written short: they become a policy like any other. */
function withModelPolicies(
  written: Settings['policies'],
  projects: ReadonlyMap<string, ProjectConfig>,
  report: ProblemSink,
): Readonly<Record<string, PolicyOptions>> {
  const added: Record<string, PolicyOptions> = {};
  for (const { name, models } of projects.values()) {
    if (models === undefined) continue;
    const parsed = policySchema.safeParse({
      rules: [{ id: 'models', action: 'block', unless: { model: models }, reason: 'model.not_allowed' }],
    });
    if (parsed.success) added[modelPolicyName(name)] = parsed.data;
    else
      report.error(['projects', name, 'models'], 'these models cannot be made into a rule', { part: 'key' });
  }
  return { ...added, ...written };
}

/** Providers that rules name; one that is not there would never be asked, or excepted. */
function checkNamedProviders(
  policies: Settings['policies'],
  providers: ReadonlyMap<string, ProviderConfig>,
  report: ProblemSink,
): void {
  for (const [policy, { rules }] of Object.entries(policies)) {
    for (const [i, rule] of rules.entries()) {
      for (const side of ['when', 'unless'] as const) {
        for (const [j, name] of (rule[side]?.provider ?? []).entries()) {
          if (providers.has(name) || report.isLeftOut(['providers', name])) continue;
          const path = ['policies', policy, 'rules', i, side, 'provider', j];
          report.warn(path, `there is no provider ${name}`, { hint: suggest(name, [...providers.keys()]) });
        }
      }
    }
  }
}

function reportPolicies(
  problems: readonly PolicyProblem[],
  { report, failedTests = 'error' }: Pick<ConfigInputs, 'report' | 'failedTests'>,
): void {
  for (const { path, message, severity, kind: of } of problems) {
    const at = [of === 'route' ? 'models' : 'policies', ...path];
    const kind = of === 'test' ? of : undefined;
    if ((kind === 'test' ? failedTests : severity) === 'error') report.error(at, message, { kind });
    else report.warn(at, message, { kind });
  }
}

/** Freezes an object and all plain objects and lists in it. Maps and sets stay; their types are read-only. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const inner of value.values()) deepFreeze(inner);
    return value;
  }
  if (value instanceof Set || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
