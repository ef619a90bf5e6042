import { samplePolicy, sandboxSamples } from '../../config/build/own-policies.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { describeProblem } from '../../config/source/problems.ts';
import type { UserProtection } from '../../config/user-file.ts';
import type { Paint } from '../../lib/paint.ts';
import type { PlantsService } from '../../server/services.ts';
import { version } from '../../version.ts';

interface BannerParts {
  readonly loaded: LoadedConfig;
  /** Where this machine reaches it. */
  readonly url: string;
  /** Where it listens. */
  readonly host: string;
  readonly key?: string | undefined;
  /** How many processes answer. */
  readonly workers?: number | undefined;
  readonly plants?: PlantsService | undefined;
  readonly metricsUrl?: string | undefined;
  /** Whether it has a live page. */
  readonly hasPage: boolean;
  /** Whether "send" finds a key that is valid. */
  readonly hasKey: boolean;
  /** What a file would use, where there is none. */
  readonly unused?: string | undefined;
  /** What to type before a command's name: see `programName`. */
  readonly program: string;
  readonly paint: Paint;
}

/** What a person who just started the gateway wants to know, and nothing else. */
export function banner(parts: BannerParts): string {
  const {
    loaded,
    url,
    host,
    key,
    workers = 1,
    plants,
    metricsUrl,
    hasPage,
    hasKey,
    unused,
    program,
    paint,
  } = parts;
  const { config } = loaded;
  const lines = [
    `gateway ${version}   ${paint('cyan', url)}   (${fileUsed(loaded)})`,
    ...(isAt(url, host) ? [] : [`listens    on all addresses (${host})`]),
    ...(unused === undefined ? [] : [paint('yellow', `sandbox    ${madeUp(unused, program)}`)]),
    ...loaded.warnings.map((warning) => paint('yellow', `warning    ${describeProblem(warning)}`)),
    ...(loaded.user === undefined ? [] : [`policies   ${ownPolicies(loaded.user)}`]),
    `providers  ${providers(config, paint)}`,
    `keys       ${key === undefined ? keyCount(config) : `local  ${key}  (saved for this user)`}`,
    ...(workers > 1 ? [`workers    ${workers}`] : []),
    ...plantsLines(plants, paint),
    ...(metricsUrl === undefined ? [] : [`metrics    ${paint('cyan', `${metricsUrl}/metrics`)}`]),
    ...(hasPage ? [`page       ${paint('cyan', `${url}/_/`)}  (${program} open)`] : []),
    ...(hasKey
      ? [`try        ${program} send "hello"`]
      : [
          `try        ${program} key new --local --write    (enters a key for you)`,
          `           ${program} send "hello"`,
        ]),
    ...(hasSamplePolicy(config) ? samples(program) : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** False for a wildcard, for which the URL has an address instead. */
function isAt(url: string, host: string): boolean {
  return url.includes(host);
}

function fileUsed({ path, config }: LoadedConfig): string {
  if (path !== undefined) return path;
  return `no gateway.yaml: ${config.isSandboxMode ? 'sandbox mode' : "the agent's own login"}`;
}

/** The file that is used, and what of the user's own holds over it, in one line. */
export function configurationUsed(loaded: LoadedConfig): string {
  const { user } = loaded;
  return user === undefined ? fileUsed(loaded) : `${fileUsed(loaded)}, policies of ${ownPolicies(user)}`;
}

/** The same for programs. */
export function toOwnPolicies({ path, policies, waived }: UserProtection): object {
  return { path, policies, waived };
}

/** What of the user's own file holds over the one that is used, and what the user has allowed this one to do without. */
export function ownPolicies({ path, policies, waived }: UserProtection): string {
  const holding = policies.length === 0 ? 'none' : policies.join(', ');
  const left = waived.length === 0 ? '' : `, without ${waived.join(', ')} (gateway trust --list)`;
  return `your own: ${holding} (${path})${left}`;
}

/** Said where nothing but a file is missing for real answers. */
export function madeUp(unused: string, program: string): string {
  return `answers are made up: "${program} init" uses ${unused}`;
}

function samples(program: string): string[] {
  const commands = sandboxSamples.map(
    ({ prompt, result }) => [`${program} send "${prompt}"`, result] as const,
  );
  // With no-break spaces, so that a narrow terminal has the result on a line of its own.
  return commands.map(([command, result]) => `           ${command}  (${result.replaceAll(' ', '\u00a0')})`);
}

function hasSamplePolicy({ source }: Config): boolean {
  return source.isSandboxMode && Object.hasOwn(source.settings.policies, samplePolicy);
}

function plantsLines(plants: PlantsService | undefined, paint: Paint): string[] {
  if (plants === undefined) return [];
  if ('problem' in plants) return [paint('yellow', `plants     ${plants.problem}`)];
  const { url, demoPassword } = plants;
  const user =
    demoPassword === undefined ? [] : [`           user demo, password ${demoPassword}  (shown only now)`];
  return [`plants     ${paint('cyan', url)}`, ...user];
}

function providers(config: Config, paint: Paint): string {
  const states = [...config.providers.values()].map(({ name, isConfigured, disabledBecause }) =>
    isConfigured
      ? `${name} ${paint('green', '✓')}`
      : `${name} ${paint('yellow', `– ${disabledBecause ?? 'not configured'}`)}`,
  );
  return states.length === 0 ? paint('yellow', 'none') : states.join(' · ');
}

function keyCount({ keys, projects }: Config): string {
  return `${keys.size} in ${projects.size} ${projects.size === 1 ? 'project' : 'projects'}`;
}
