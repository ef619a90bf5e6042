import type { KeySettings, Settings } from '../schema/schema.ts';
import { parseExpiry } from '../schema/units.ts';
import { type KeyFile, keyIn } from '../source/named-files.ts';
import { suggest } from '../source/problems.ts';
import type { ProblemSink } from '../source/report.ts';
import { buildLimits, hashKey, type KeyLimits, parseKey, type Writable } from './keys.ts';

export interface ProjectConfig {
  readonly name: string;
  /** Every policy that applies to all of its keys, by name. */
  readonly policies: readonly string[];
  /** Names and patterns of the models it may use; absent: all. */
  readonly models?: readonly string[];
  readonly limits?: KeyLimits;
}

/** A key as the file has it, before its policies are compiled. */
export interface KeySource {
  readonly id: string;
  readonly project: string;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  /** Known only if the file gives the key rather than its hash. */
  readonly plain?: string;
  readonly expiresMs?: number;
  /** Keys that it has replaced and that still stand for it, for a while. */
  readonly previous?: readonly ReplacedKey[];
  readonly policies: readonly string[];
  readonly limits?: KeyLimits;
}

export interface ReplacedKey {
  readonly hash: string;
  readonly expiresMs: number;
}

interface Inputs {
  readonly settings: Settings;
  readonly keyFiles: ReadonlyMap<string, KeyFile>;
  readonly nowMs: number;
  readonly report: ProblemSink;
  /** The projects are not written but made up, so no warning is due. */
  readonly needsLocalKey: boolean;
}

const dayMs = 86_400_000;
const soonMs = 14 * dayMs;

/** The name of the policy that the `models` of a project stand for. No written policy can have it. */
export function modelPolicyName(project: string): string {
  return `models of ${project}`;
}

export function buildProjects({
  settings,
  report,
  needsLocalKey,
}: Inputs): ReadonlyMap<string, ProjectConfig> {
  const forAll = Object.keys(settings.policies).filter((name) => settings.policies[name]?.apply === 'all');
  return new Map(
    Object.entries(settings.projects ?? {}).map(([name, { policies, models, limits }]) => {
      checkPolicies(['projects', name, 'policies'], policies, settings.policies, report);
      const shorthand = models === undefined ? [] : [modelPolicyName(name)];
      const own = [...new Set([...forAll, ...shorthand, ...policies])];
      if (own.length === 0 && !needsLocalKey) {
        report.warn(['projects', name], 'no policy applies: its keys may send anything', { part: 'key' });
      }
      return [
        name,
        {
          name,
          policies: own,
          ...(models !== undefined && { models }),
          ...(limits !== undefined && { limits: buildLimits('project', name, limits) }),
        },
      ];
    }),
  );
}

/** The keys of all projects; those that lack something are left out with a warning. */
export function collectKeys(inputs: Inputs): readonly KeySource[] {
  const { settings, report } = inputs;
  const sources: KeySource[] = [];
  const owners = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const [project, { keys }] of Object.entries(settings.projects ?? {})) {
    for (const [i, key] of keys.entries()) {
      const path = ['projects', project, 'keys', i];
      const first = ids.get(key.id);
      if (first !== undefined) {
        report.error([...path, 'id'], `another key of project ${first} has this id already`);
      }
      ids.set(key.id, project);
      const source = readKey(path, { project, key, inputs });
      if (source === undefined) continue;
      for (const { hash } of [source, ...(source.previous ?? [])]) {
        const owner = owners.get(hash);
        if (owner !== undefined) report.error(path, `the same key as ${owner}: every key needs its own`);
        owners.set(hash, key.id);
      }
      sources.push(source);
    }
  }
  return sources;
}

interface KeyPlace {
  readonly project: string;
  readonly key: KeySettings;
  readonly inputs: Inputs;
}

function readKey(path: readonly PropertyKey[], { project, key, inputs }: KeyPlace): KeySource | undefined {
  const { settings, report, nowMs } = inputs;
  if (key.policies.length > 0) checkPolicies([...path, 'policies'], key.policies, settings.policies, report);
  const missing = report.missingBelow(path);
  if (missing !== undefined) {
    report.warn(path, `key ${key.id} is skipped: ${missing}`);
    return undefined;
  }
  const given = readGiven(path, key, inputs);
  if (given === undefined) return undefined;
  const expiresMs = key.expires === undefined ? undefined : parseExpiry(key.expires);
  if (expiresMs !== undefined && expiresMs < nowMs + soonMs) {
    const days = Math.ceil((expiresMs - nowMs) / dayMs);
    const when = expiresMs <= nowMs ? 'has expired' : `expires in ${days === 1 ? 'a day' : `${days} days`}`;
    report.warn([...path, 'expires'], `key ${key.id} ${when}`);
  }
  // Spreads would take several times as long, and there may be thousands of keys.
  const source: Writable<KeySource> = {
    id: key.id,
    project,
    hash: given.hash,
    policies: key.policies,
  };
  if (given.plain !== undefined) source.plain = given.plain;
  if (expiresMs !== undefined) source.expiresMs = expiresMs;
  if (key.previous.length > 0) source.previous = readPrevious(key, expiresMs);
  if (key.limits !== undefined) source.limits = buildLimits('key', key.id, key.limits);
  return source;
}

/** None outlives the key itself. */
function readPrevious({ previous }: KeySettings, expiresMs = Number.POSITIVE_INFINITY): ReplacedKey[] {
  return previous.map(({ hash, expires }) => ({
    hash: hash.slice(hashPrefix.length),
    expiresMs: Math.min(parseExpiry(expires) ?? 0, expiresMs),
  }));
}

const hashPrefix = 'sha256:';

type Given = Pick<KeySource, 'hash' | 'plain'>;
const waysToGive = ['hash', 'value', 'file'] as const;

function readGiven(path: readonly PropertyKey[], key: KeySettings, inputs: Inputs): Given | undefined {
  const { report } = inputs;
  const ways = waysToGive.filter((way) => key[way] !== undefined);
  if (ways.length !== 1) {
    const what =
      ways.length === 0
        ? 'a key needs one of hash, value and file'
        : `only one of ${ways.join(' and ')} may be given`;
    report.error(path, what, { hint: 'make a key with `gateway key new`' });
    return undefined;
  }
  if (key.hash !== undefined) return { hash: key.hash.slice(hashPrefix.length) };
  const { file = '' } = key;
  const plain =
    key.value === undefined
      ? keyIn(inputs.keyFiles.get(file), { what: 'key', file, path: [...path, 'file'], report })
      : readFromValue(path, key.value, inputs);
  if (plain === undefined) return undefined;
  if (parseKey(plain) === 'damaged') {
    report.warn(
      path,
      `key ${key.id} begins like a generated key but is truncated or mistyped: its checksum is wrong`,
    );
  }
  return { hash: hashKey(plain), plain };
}

function readFromValue(path: readonly PropertyKey[], value: string, { report }: Inputs): string | undefined {
  if (report.isFromEnvironment([...path, 'value'])) return value;
  report.error([...path, 'value'], 'a key must not be in the file, not even in part', {
    hint: `write "\${NAME}", or its hash from \`gateway key hash\``,
  });
  return undefined;
}

function checkPolicies(
  path: readonly PropertyKey[],
  names: readonly string[],
  known: Inputs['settings']['policies'],
  report: ProblemSink,
): void {
  for (const [i, name] of names.entries()) {
    if (Object.hasOwn(known, name) || report.isLeftOut(['policies', name])) continue;
    report.error([...path, i], `there is no policy ${name}`, { hint: suggest(name, Object.keys(known)) });
  }
}
