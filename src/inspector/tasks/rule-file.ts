import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Document, parseDocument, stringify } from 'yaml';
import type { Settings } from '../../config/schema/schema.ts';
import { parseSource } from '../../config/source/document.ts';
import { isOfUser, withoutPrefix } from '../../config/user-file.ts';
import { toFields, toList } from '../../dialects/fields.ts';
import type { RuleLocation } from '../contract/exchange-detail.ts';

type Policies = Settings['policies'];

interface Paths {
  readonly configPath: string | undefined;
  readonly userPath: string | undefined;
}

/** Where each rule is in its configuration file, by its id; empty if there is no file. */
export async function readRuleLines(
  { configPath: path = '', userPath = '' }: Paths,
  policies: Policies,
): Promise<ReadonlyMap<string, RuleLocation>> {
  const lines = ruleLines(await readText(path), policies, { file: basename(path), path: ['policies'] });
  const user = userRuleLines(await readText(userPath), policies, userPath);
  return new Map([...lines, ...user]);
}

/** Rules of the user's own file, some renamed or left out while another file is used. */
function userRuleLines(text: string, policies: Policies, file: string): ReadonlyMap<string, RuleLocation> {
  const source = parseSource(text);
  const written = toFields(toFields(source.value).policies);
  const lines = new Map<string, RuleLocation>();
  for (const [name, { rules }] of Object.entries(policies)) {
    if (!isOfUser(name)) continue;
    const policy = withoutPrefix(name);
    const ids = toList(toFields(written[policy]).rules).map((rule) => toFields(rule).id);
    for (const { id } of rules) {
      const at = ['policies', policy, 'rules', ids.indexOf(withoutPrefix(id))];
      const line = source.has(at) ? source.locate(at, 'value')?.line : undefined;
      if (line !== undefined) lines.set(id, { file, line });
    }
  }
  return lines;
}

/** The policies as written, comments included, as the start of a scratch copy. */
export async function readPolicies(path: string | undefined, policies: Policies): Promise<string> {
  try {
    const written = parseDocument(await readText(path)).get('policies', true);
    if (written !== undefined) return new Document(written).toString({ lineWidth: 0 });
  } catch {
    // An alias to something outside the policies: then they are serialized from the parsed values.
  }
  const own = Object.entries(policies).filter(([name]) => !isOfUser(name));
  return stringify(Object.fromEntries(own), { lineWidth: 0 });
}

/** Empty without a file, and if it was removed since the gateway read it. */
async function readText(path = ''): Promise<string> {
  return path === '' ? '' : readFile(path, 'utf8').catch(() => '');
}

/** Where each rule is in a YAML text: the `path` in it that has the policies, and the name of its `file`. */
export function ruleLines(
  text: string,
  policies: Policies,
  { file, path }: { readonly file: string; readonly path: readonly string[] },
): ReadonlyMap<string, RuleLocation> {
  const source = parseSource(text);
  const lines = new Map<string, RuleLocation>();
  for (const [name, { rules }] of Object.entries(policies)) {
    for (const [index, { id }] of rules.entries()) {
      const at = [...path, name, 'rules', index];
      const line = source.has(at) ? source.locate(at, 'value')?.line : undefined;
      if (line !== undefined) lines.set(id, { file, line });
    }
  }
  return lines;
}
