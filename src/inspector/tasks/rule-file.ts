import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Document, parseDocument, stringify } from 'yaml';
import type { Settings } from '../../config/schema/schema.ts';
import { parseSource } from '../../config/source/document.ts';

interface Read {
  readonly stamp: string;
  readonly text: string;
}

type Policies = Settings['policies'];

/** The rules in the configuration file; read again when it has changed. */
export class RuleFile {
  #read: Read | undefined;

  /** Where each rule is, by its id; empty if there is no file. */
  async lines(
    path: string | undefined,
    policies: Policies,
  ): Promise<ReadonlyMap<string, { readonly file: string; readonly line: number }>> {
    const text = await this.#text(path);
    if (path === undefined || text === undefined) return new Map();
    const file = basename(path);
    return new Map([...ruleLines(text, policies, ['policies'])].map(([id, line]) => [id, { file, line }]));
  }

  /** The policies as written, comments included, as the start of a scratch copy. */
  async policiesText(path: string | undefined, policies: Policies): Promise<string> {
    const text = await this.#text(path);
    try {
      const written = text === undefined ? undefined : parseDocument(text).get('policies', true);
      if (written !== undefined) return new Document(written).toString({ lineWidth: 0 });
    } catch {
      // An alias to something outside the policies: then they are serialized from the parsed values.
    }
    return stringify(policies, { lineWidth: 0 });
  }

  async #text(path: string | undefined): Promise<string | undefined> {
    if (path === undefined) return undefined;
    try {
      const { mtimeMs, size } = await stat(path);
      const stamp = `${path} ${mtimeMs} ${size}`;
      if (this.#read?.stamp !== stamp) this.#read = { stamp, text: await readFile(path, 'utf8') };
      return this.#read.text;
    } catch {
      return undefined; // it was removed since it was read
    }
  }
}

/** The line of each rule in a YAML text. */
export function ruleLines(
  text: string,
  policies: Policies,
  path: readonly string[],
): ReadonlyMap<string, number> {
  const source = parseSource(text);
  const lines = new Map<string, number>();
  for (const [name, { rules }] of Object.entries(policies)) {
    for (const [index, { id }] of rules.entries()) {
      const at = [...path, name, 'rules', index];
      const line = source.has(at) ? source.locate(at, 'value')?.line : undefined;
      if (line !== undefined) lines.set(id, line);
    }
  }
  return lines;
}
