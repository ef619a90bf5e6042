import type { Argument, Option } from 'commander';
import { detectorNames } from '../../policy/detectors/names.ts';
import type { Io } from '../shell/io.ts';

export interface CompletionWord {
  readonly value: string;
  readonly description?: string;
}

/** What a word can be completed to: one of these, or a name from the file system. */
export interface Completion {
  readonly kind: 'words' | 'files' | 'directories';
  readonly words: readonly CompletionWord[];
}

export interface CompletionContext {
  /** The options given so far, the common ones among them. */
  readonly options: { readonly config?: string };
  readonly io: Io;
  /** The words before the one being typed. */
  readonly words: readonly string[];
}

export const noWords: Completion = { kind: 'words', words: [] };

type CandidateSource = (context: CompletionContext) => Promise<Completion>;

const modelNames: CandidateSource = async (context) => {
  const { modelNames: named } = await import('./config-names.ts');
  return toWords(await named(configFile(context), context.io));
};

const fileNames: CandidateSource = async () => ({ kind: 'files', words: [] });
const configured =
  (list: 'projects' | 'keys' | 'policies' | 'rules' | 'providers'): CandidateSource =>
  async (context) => {
    const { namesInConfig } = await import('./config-names.ts');
    return toWords((await namesInConfig(configFile(context), context.io))[list]);
  };

/** Keyed by a value's placeholder in the help, or else by its option: `[model]` and `--model <name>` complete models. */
const sources: Readonly<Record<string, CandidateSource>> = {
  file: fileNames,
  'file-or-url': fileNames,
  files: fileNames,
  records: fileNames,
  template: fileNames,
  directory: async () => ({ kind: 'directories', words: [] }),
  model: modelNames,
  modelSmall: modelNames,
  detectors: async () => toWords(detectorNames),
  project: configured('projects'),
  key: configured('keys'),
  policy: configured('policies'),
  rule: configured('rules'),
  provider: configured('providers'),
};

/** Placeholders that nothing can be suggested for. A test requires each placeholder to be here or above. */
export const freeValues = [
  'address',
  'arguments',
  'category',
  'date',
  'detectors',
  'duration',
  'expression',
  'host',
  'id',
  'month',
  'n',
  'name',
  'name=value',
  'number',
  'port',
  'prompt',
  'seconds',
  'tags',
  'text',
  'texts',
  'time',
  'usd',
];

export const completedValues = Object.keys(sources);

export async function completeValue(
  wanted: Option | Argument,
  context: CompletionContext,
): Promise<Completion> {
  if (wanted.argChoices !== undefined) return toWords(wanted.argChoices);
  const source = valueNames(wanted).find((name) => Object.hasOwn(sources, name));
  return (await sources[source ?? '']?.(context)) ?? noWords;
}

/** The names under which the value of an option or argument may be listed above. */
export function valueNames(wanted: Option | Argument): readonly string[] {
  if (!('flags' in wanted)) return [wanted.name()];
  return [/[<[]([^\]>.]+)/.exec(wanted.flags)?.[1] ?? '', wanted.attributeName()];
}

function configFile({ options, io, words }: CompletionContext): string | undefined {
  const at = words.findLastIndex((word) => word === '-c' || word === '--config');
  return options.config ?? (at < 0 ? undefined : words[at + 1]) ?? (io.env.GATEWAY_CONFIG || undefined);
}

/**
 * Names come from files and other machines. One that a shell would split, expand or run, or that could control the
 * terminal, is not suggested: the shell treats what it inserts as if it had been typed.
 */
function toWords(names: Iterable<string>): Completion {
  const harmless = [...new Set(names)].filter((name) => /^[\p{L}\p{N}_./:@%+=,-]+$/u.test(name));
  return { kind: 'words', words: harmless.map((value) => ({ value })) };
}
