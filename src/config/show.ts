import { Document, isCollection, isMap, isScalar, isSeq } from 'yaml';
import type { Inspection } from './load.ts';
import { withoutSecrets } from './schema/schema.ts';
import { formatPath } from './source/problems.ts';

type Path = readonly PropertyKey[];

/** The effective settings as YAML, secrets hidden; with origins each setting says where its value came from. */
export function renderSettings(
  inspection: Inspection,
  { withOrigins }: { readonly withOrigins: boolean },
): string {
  const document = new Document(shown(inspection), { aliasDuplicateObjects: false });
  if (withOrigins) comment(document.contents, [], inspection);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** The same for programs: the settings, and the origin of each by its path. */
export function describeSettings(inspection: Inspection): {
  readonly path: string | null;
  readonly settings: unknown;
  readonly origins: Readonly<Record<string, string>>;
} {
  const settings = shown(inspection);
  const origins: Record<string, string> = {};
  const walk = (value: unknown, path: Path): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value))
        walk(inner, [...path, Array.isArray(value) ? Number(key) : key]);
      if (Object.keys(value).length > 0) return;
    }
    origins[formatPath(path)] = originOf(path, inspection);
  };
  walk(settings, []);
  return { path: inspection.found?.path ?? null, settings, origins };
}

function shown({ settings }: Inspection): unknown {
  return settings === undefined ? {} : withoutSecrets(settings);
}

/** `environment NAME`, `gateway.yaml:12`, or `default`. */
function originOf(path: Path, inspection: Inspection): string {
  const there = inspection.borrowed?.pathThere(path);
  if (there === undefined || inspection.borrowed === undefined) return originIn(inspection, path);
  const { file, source, references } = inspection.borrowed;
  return originIn({ references, source, name: file }, there);
}

function originIn(
  { references, source, name }: Pick<Inspection, 'references' | 'source' | 'name'>,
  path: Path,
): string {
  const reference = references.find((one) => formatPath(one.path) === formatPath(path));
  const place = source?.has(path) ? source.locate(path, 'value') : undefined;
  const file = place === undefined ? undefined : `${name}:${place.line}`;
  if (reference !== undefined) {
    return `environment ${reference.names.join(', ')}${file === undefined ? '' : ` (${file})`}`;
  }
  return file ?? 'default';
}

/** Puts the origin after every scalar, and above every empty group, where YAML has no room after it. */
function comment(node: unknown, path: Path, inspection: Inspection): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      const inner = [...path, String(isScalar(key) ? key.value : key)];
      if (isCollection(value) && value.items.length === 0 && isScalar(key)) {
        key.commentBefore = ` ${originOf(inner, inspection)}`;
      }
      comment(value, inner, inspection);
    }
  } else if (isSeq(node)) {
    for (const [i, item] of node.items.entries()) comment(item, [...path, i], inspection);
  } else if (isScalar(node)) {
    node.comment = ` ${originOf(path, inspection)}`;
  }
}
