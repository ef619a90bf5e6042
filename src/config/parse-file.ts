import { type ReadSettings, readSettings } from './build/settings.ts';
import { wantsNumberOrBoolean } from './schema/reach.ts';
import { settingsSchema } from './schema/schema.ts';
import type { SourceDocument } from './source/document.ts';
import { withListedKeys } from './source/listed-keys.ts';
import type { Read } from './source/logins.ts';
import { areNotSet, createReport, type ProblemSink } from './source/report.ts';
import { type Reference, substitute } from './source/substitute.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface ParseOptions {
  readonly env: Environment;
  /** Changes what the file says, before it is checked. */
  readonly amend?: (read: Read) => Read;
  /** False: neither lines of the file nor what a parser says of them are shown, since it may be any file of the user's. */
  readonly mayQuote?: boolean;
  /** Whether an unset variable at this path matters. */
  readonly needs?: (path: readonly PropertyKey[]) => boolean;
}

/** One file, checked against the schema; problems are in the report. */
export interface ParsedFile {
  readonly source: SourceDocument | undefined;
  /** Those of the file itself. */
  readonly ownReferences: readonly Reference[];
  /** The same after `amend`. */
  readonly references: readonly Reference[];
  readonly report: ProblemSink;
  /** Undefined if it is not YAML. */
  readonly read: ReadSettings | undefined;
}

/** Reads the text of a file, or what holds without one. */
export async function parseFile(
  text: string | undefined,
  { env, amend = (read) => read, mayQuote = true, needs = isNeeded }: ParseOptions,
): Promise<ParsedFile> {
  // Without a file the YAML parser is never loaded.
  const source =
    text === undefined
      ? undefined
      : withListedKeys(
          (await import('./source/document.ts')).parseSource(text, {
            isNumberOrBoolean: (path) => wantsNumberOrBoolean(settingsSchema, path),
            mayQuote,
          }),
        );
  const substituted = substitute(source?.value ?? {}, env);
  const { value, references } = amend(substituted);
  const report = createReport({ source, references });
  report.add(source?.problems ?? []);
  const isYaml = (source?.problems ?? []).length === 0;
  // Whoever has a file means something by it: one that is empty, or commented out, is more likely an accident.
  if (source !== undefined && isYaml && (source.value ?? undefined) === undefined) {
    report.error([], 'the file sets nothing', { hint: 'write {} for sandbox mode' });
  }
  for (const path of substituted.malformed) {
    report.error(path, `expected \${NAME}`, { hint: `letters, digits and _; write $\${ for a plain \${` });
  }
  for (const { path, unset } of references) {
    if (unset.length > 0 && needs(path)) {
      report.error(path, `environment variable ${areNotSet(unset)}`);
    }
  }
  const read = isYaml ? readSettings({ value, references, source, report }) : undefined;
  return { source, ownReferences: substituted.references, references, report, read };
}

/** An unset variable disables a provider or a key; anywhere else there is nothing that could do without it. */
function isNeeded(path: readonly PropertyKey[]): boolean {
  const [section, , list] = path;
  return !(section === 'providers' && path.length > 2) && !(section === 'projects' && list === 'keys');
}
