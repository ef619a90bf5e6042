import type { Reference, Substituted } from './substitute.ts';

/** Variables that beat the file, each with the setting it stands for. */
const overrides = { PLANTS_URL: ['plants', 'base_url'] } as const;

/** The environment comes before the file: its variables replace what the file says. */
export function applyOverrides(
  { value, references }: Substituted,
  env: Readonly<Record<string, string | undefined>>,
): Pick<Substituted, 'value' | 'references'> {
  let result = value;
  let kept = references;
  for (const [name, path] of Object.entries(overrides)) {
    const given = env[name];
    if (given === undefined || given === '') continue;
    const [section, key] = path;
    const whole = asGroup(result);
    if (whole === undefined) continue;
    const group = asGroup(whole[section] ?? {});
    if (group === undefined) continue;
    result = { ...whole, [section]: { ...group, [key]: given } };
    const own: Reference = { path, names: [name], isWhole: true, unset: [] };
    kept = [...kept.filter((other) => other.path.join('.') !== path.join('.')), own];
  }
  return { value: result, references: kept };
}

function asGroup(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Record<string, unknown>; // an object that is no list
}
