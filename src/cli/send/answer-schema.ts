import { type ErrorObject, type Options, Ajv as PlainAjv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parseSource, type SourceDocument } from '../../config/source/document.ts';
import { ConfigError, listOf, type Problem } from '../../config/source/problems.ts';
import { isFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { readTextFile } from '../shell/input.ts';

export interface AnswerSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Throws answer.mismatch with the first place that fails. */
  check(answer: string): void;
}

/** Reads a JSON Schema (JSON or YAML). Throws config.invalid with line and column of what is wrong in it. */
export async function readAnswerSchema(file: string, cwd: string): Promise<AnswerSchema> {
  const source = parseSource(await readTextFile(file, cwd));
  // One mistake in JSON causes several errors in YAML; the first is the real one.
  if (source.problems.length > 0) throw new ConfigError(file, source.problems.slice(0, 1));
  const { value: schema } = source;
  if (!isFields(schema)) throw invalid(file, source, [], 'expected a JSON Schema: an object');
  const options: Options = { allErrors: true, strict: false, logger: false };
  // Each draft has a class of its own; without `$schema` it is the newest.
  const isOlder = /draft-0[67]/.test(String(schema.$schema ?? ''));
  const ajv = isOlder ? new PlainAjv(options) : new Ajv2020(options);
  addFormats.default(ajv);
  const check = (work: () => boolean): void => {
    try {
      if (work()) return;
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'not a JSON Schema';
      throw invalid(file, source, pathOfQuoted(schema, message) ?? [], message);
    }
    const [first] = ajv.errors ?? [];
    throw invalid(file, source, pathOf(first), wordsOf(first));
  };
  check(() => ajv.validateSchema(schema) === true);
  check(() => ajv.compile(schema) !== undefined);
  const validate = ajv.compile(schema);
  return {
    schema,
    check: (answer) => {
      const value = parseAnswer(answer);
      if (validate(value)) return;
      throw new GatewayError('answer.mismatch', describe(file, validate.errors ?? []));
    },
  };
}

function parseAnswer(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new GatewayError('answer.mismatch', `the answer is not JSON${why}`, { cause });
  }
}

/** The position of the pattern or reference that ajv's message quotes without saying where it is. */
function pathOfQuoted(value: unknown, message: string): readonly PropertyKey[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const isQuoted = (name === 'pattern' || name === '$ref') && typeof inner === 'string';
    const below = isQuoted && message.includes(inner) ? [] : pathOfQuoted(inner, message);
    if (below !== undefined) return [Array.isArray(value) ? Number(name) : name, ...below];
  }
  return undefined;
}

function wordsOf(error: ErrorObject | undefined): string {
  if (error?.keyword !== 'enum') return error?.message ?? 'not a JSON Schema';
  const { allowedValues } = error.params as { allowedValues: readonly unknown[] }; // ajv's parameters for an enum
  return `expected ${listOf(allowedValues.map(String), 'or')}`;
}

const shownErrors = 10;

function describe(file: string, errors: readonly ErrorObject[]): string {
  const places = errors.map(({ instancePath, message, params }) => {
    const extra = 'additionalProperty' in params ? ` (${JSON.stringify(params.additionalProperty)})` : '';
    return `  ${instancePath === '' ? '(the whole)' : instancePath}: ${message}${extra}`;
  });
  const rest = places.length > shownErrors ? [`  and ${places.length - shownErrors} more`] : [];
  return `the answer does not follow ${file}:\n${[...places.slice(0, shownErrors), ...rest].join('\n')}`;
}

/** A JSON pointer as path segments; list indexes become numbers. */
function pathOf(error: ErrorObject | undefined): readonly PropertyKey[] {
  const steps = error?.instancePath.split('/').slice(1) ?? [];
  return steps
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function invalid(
  file: string,
  source: SourceDocument,
  path: readonly PropertyKey[],
  message: string,
): ConfigError {
  const place = source.locate(path, 'value');
  const problem: Problem = { severity: 'error', path, message, ...(place && { place }) };
  return new ConfigError(file, [problem]);
}
