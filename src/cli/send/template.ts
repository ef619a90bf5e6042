import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Liquid, LiquidError } from 'liquidjs';
import { parseSource, type SourceDocument } from '../../config/source/document.ts';
import { userDirectory } from '../../config/source/find.ts';
import { ConfigError, listOf, type Problem } from '../../config/source/problems.ts';
import { isFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { createLiquid } from '../shell/filter/output-template.ts';
import { readTextFile } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';

export interface FilledTemplate {
  readonly text: string;
  readonly system?: string;
  readonly model?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

interface Filling {
  /** The prompt: standard input and the argument. */
  readonly input: string;
  readonly variables: Readonly<Record<string, string>>;
}

const endings = ['', '.md', '.txt', '.liquid'];

/**
 * Fills a Liquid template, by its name in the user's directory of templates or its path. Between two lines of ---
 * at its top it may name model, system, max_tokens, temperature and variables with their defaults. Throws
 * config.invalid with line and column of what is wrong in it.
 */
export async function fillTemplate(
  name: string,
  { input, variables }: Filling,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<FilledTemplate> {
  const file = findTemplate(name, io);
  const { settings, source, body, bodyLine, lines } = split(await readTextFile(file, io.cwd), file);
  const { defaults, ...rest } = settings;
  const values = { ...defaults, ...(input === '' ? {} : { input }), ...variables };
  const bodyProblem = (error: LiquidError): Problem => {
    const [line = 1, column = 1] = positionOf(error);
    const sourceLine = lines[line + bodyLine - 1] ?? '';
    const length = Math.max(1, Math.min(error.token.getText().length, sourceLine.length - column + 1));
    return { ...toProblem(error), place: { line: line + bodyLine, column, length, source: sourceLine } };
  };
  const systemProblem = (error: LiquidError): Problem => {
    const place = source?.locate(['system'], 'value');
    return { ...toProblem(error), path: ['system'], ...(place && { place }) };
  };
  const liquid = createLiquid();
  const main = fill(liquid, { text: body, values, file, problem: bodyProblem });
  const system =
    rest.system === undefined
      ? undefined
      : fill(liquid, { text: rest.system, values, file, problem: systemProblem });
  const used = new Set([...main.used, ...(system?.used ?? [])]);
  refuseUnused(Object.keys(variables), used, file);
  // Nothing is dropped silently: a prompt that the template does not use is appended.
  const parts = used.has('input') ? [main.text] : [main.text, input];
  return {
    ...rest,
    text: parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join('\n\n'),
    ...(system && { system: system.text }),
  };
}

interface Text {
  readonly text: string;
  readonly values: object;
  readonly file: string;
  readonly problem: (error: LiquidError) => Problem;
}

function fill(
  liquid: Liquid,
  { text, values, file, problem }: Text,
): { readonly text: string; readonly used: readonly string[] } {
  try {
    const parsed = liquid.parse(text);
    return { text: String(liquid.renderSync(parsed, values)), used: liquid.globalVariablesSync(parsed) };
  } catch (error) {
    if (!LiquidError.is(error)) throw error;
    throw new ConfigError(file, [problem(error)]);
  }
}

function positionOf(error: LiquidError): readonly number[] {
  return error.token.getPosition();
}

function toProblem(error: LiquidError): Problem {
  const message = error.message
    .replace(/, line:\d+, col:\d+$/, '')
    .replace(/^ENOENT: .*$/, 'no other file can be read');
  const [, name] = /^undefined variable: (.+)$/.exec(message) ?? [];
  const hint = name === 'input' ? 'give a prompt, or pipe one in' : name && `set it with --var ${name}=…`;
  return { severity: 'error', path: [], message, ...(hint && { hint }) };
}

function refuseUnused(names: readonly string[], used: ReadonlySet<string>, file: string): void {
  const unused = names.find((name) => !used.has(name));
  if (unused === undefined) return;
  const known = used.size === 0 ? 'it has none' : `it has ${listOf([...used], 'and')}`;
  throw new GatewayError('usage.invalid', `--var ${unused}: ${file} has no such variable; ${known}`);
}

/** A name is the user's own template before it is a file of the working directory, which may be a stranger's. */
function findTemplate(name: string, { cwd, env }: Pick<Io, 'cwd' | 'env'>): string {
  const own = join(userDirectory(env), 'templates');
  const byName = name.includes('/') ? [] : endings.map((end) => join(own, name + end));
  const found = byName.find((path) => existsSync(path));
  if (found !== undefined) return found;
  if (existsSync(resolve(cwd, name))) return name;
  const places = name.includes('/') ? 'here' : `here, nor ${name}.md in ${own}`;
  throw new GatewayError('usage.invalid', `there is no template ${name} ${places}`);
}

interface TemplateSettings extends Omit<FilledTemplate, 'text'> {
  readonly defaults?: Readonly<Record<string, unknown>>;
}

interface SplitTemplate {
  readonly settings: TemplateSettings;
  readonly source: SourceDocument | undefined;
  readonly body: string;
  /** How many lines precede the body. */
  readonly bodyLine: number;
  readonly lines: readonly string[];
}

function split(text: string, file: string): SplitTemplate {
  const lines = text.split(/\r?\n/);
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  if (lines[0] === '---' && end < 0) {
    const place = { line: 1, column: 1, length: 3, source: '---' };
    const message = 'the settings that begin here have no end: a line of ---';
    throw new ConfigError(file, [{ severity: 'error', path: [], message, place }]);
  }
  if (end < 0) return { settings: {}, source: undefined, body: text, bodyLine: 0, lines };
  // The first line is kept as a comment, so that line numbers are those of the file.
  const source = parseSource(['#', ...lines.slice(1, end)].join('\n'));
  const problems = [...source.problems, ...settingProblems(source)];
  if (problems.length > 0) throw new ConfigError(file, problems);
  const { max_tokens, variables, ...rest } = (source.value ?? {}) as Record<string, never>; // checked above
  const settings: TemplateSettings = {
    ...rest,
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(variables !== undefined && { defaults: variables }),
  };
  return { settings, source, body: lines.slice(end + 1).join('\n'), bodyLine: end + 1, lines };
}

const settingChecks: Readonly<Record<string, readonly [check: (value: unknown) => boolean, what: string]>> = {
  model: [(value) => typeof value === 'string' && value !== '', 'a name'],
  system: [(value) => typeof value === 'string', 'a text'],
  max_tokens: [(value) => Number.isSafeInteger(value) && Number(value) > 0, 'a whole number above 0'],
  temperature: [(value) => typeof value === 'number' && value >= 0, 'a number from 0'],
  variables: [isFields, 'names with their defaults'],
};

function settingProblems(source: SourceDocument): readonly Problem[] {
  const { value } = source;
  if (value === undefined || value === null) return [];
  const error = (path: readonly PropertyKey[], message: string, part: 'key' | 'value'): Problem => {
    const place = source.locate(path, part);
    return { severity: 'error', path, message, ...(place && { place }) };
  };
  if (!isFields(value)) return [error([], 'expected settings such as model: NAME', 'value')];
  return Object.entries(value).flatMap(([name, setting]) => {
    const check = Object.hasOwn(settingChecks, name) ? settingChecks[name] : undefined;
    const known = listOf(Object.keys(settingChecks), 'and');
    if (check === undefined) return [error([name], `unknown setting; there are ${known}`, 'key')];
    return check[0](setting) ? [] : [error([name], `expected ${check[1]}`, 'value')];
  });
}
