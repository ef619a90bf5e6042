import type { Command } from 'commander';
import { isAlive, readRunning } from '../client/address.ts';
import type { Inspection } from '../config/load.ts';
import { describeSearch, findConfig, readConfigFile } from '../config/source/find.ts';
import { countOf, formatPath, formatProblem, inFileOrder, type Problem } from '../config/source/problems.ts';
import { protectionOf, refuseSuccessor } from '../config/successor.ts';
import { GatewayError } from '../errors.ts';
import { acceptedLocalKey, localKey } from './serve/kept-secrets.ts';
import { commonOptions, createCommand, outputFormat } from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { inspectUserConfig, inspectValidConfig } from './shell/load-config.ts';
import { note, print } from './shell/print/print.ts';
import { wrapped } from './shell/print/wrapped.ts';

export function build(io: Io): Command {
  const command = createCommand({
    name: 'config',
    summary: 'check, show and find the configuration',
    examples: [
      'gateway config check',
      'gateway config show --origin',
      'gateway config schema > gateway.schema.json',
    ],
  });
  return command
    .addCommand(buildCheck(io))
    .addCommand(buildShow(io))
    .addCommand(buildPath(io))
    .addCommand(buildSchema(io));
}

function buildCheck(io: Io): Command {
  return createCommand({
    name: 'check',
    summary: 'list all errors and warnings; exit 2 if serve would refuse the file',
    examples: ['gateway config check', 'gateway config check staging.yaml', 'gateway config check -o json'],
  })
    .argument('[file]', 'file to check (default: the one that serve would use)')
    .action(async (file: string | undefined, _options: unknown, command: Command) => {
      const format = outputFormat(command, ['text', 'json']);
      const inspected = await inspectUserConfig({ config: file ?? commonOptions(command).config }, io);
      const inspection = withRunningGateway(withLocalKey(inspected, io), io);
      const text =
        format === 'json' ? checkAsJson(inspection) : await wrapped(checkAsText(inspection), io.stdout);
      await print(text, io);
      if (inspection.config !== undefined) return;
      // The list is the result, so it is on stdout; the error only says that there are problems.
      throw new GatewayError(
        'config.invalid',
        `${countOf(inspection.problems, 'error')} in ${inspection.name}`,
      );
    });
}

/** Adds a warning if this user's own commands have no key that the file accepts. */
function withLocalKey(inspection: Inspection, { env }: Io): Inspection {
  const { config, problems } = inspection;
  if (config === undefined || config.needsLocalKey || env.GATEWAY_KEY) return inspection;
  if (localKey.read(env) === undefined || acceptedLocalKey(config, env) !== undefined) return inspection;
  const message = "the local key is in no project, so this user's commands need GATEWAY_KEY";
  const hint = '"gateway key new --local --write" enters it';
  return {
    ...inspection,
    problems: [...problems, { severity: 'warning', path: ['projects'], message, hint }],
  };
}

/** Adds an error if the running gateway of this user would refuse to load the file. */
function withRunningGateway(inspection: Inspection, { env }: Io): Inspection {
  const { config, found, problems } = inspection;
  const running = readRunning(env);
  if (config === undefined || running?.config?.path == null || !isAlive(running.pid)) return inspection;
  const { path } = running.config;
  const refusal =
    found === undefined
      ? `${path} is gone`
      : found.path === path && refuseSuccessor(running.config, protectionOf(config));
  if (!refusal) return inspection;
  const message = `the running gateway (pid ${running.pid}) keeps the configuration it has: ${refusal}`;
  return {
    ...inspection,
    config: undefined,
    problems: [...problems, { severity: 'error', path: [], message }],
  };
}

function checkAsText(inspection: Inspection): string {
  const { config, problems, name, found } = inspection;
  const lines = inFileOrder(problems)
    .map((problem) => `${formatProblem(problem, name)}\n`)
    .join('');
  if (config === undefined) return lines;
  const warnings = problems.length === 0 ? '' : `, ${countOf(problems, 'warning')}`;
  return `${lines}${found === undefined ? 'no gateway.yaml: sandbox mode' : `${name}: fine`}${warnings}\n`;
}

function checkAsJson({ config, problems, found }: Inspection): string {
  const result = {
    path: found?.path ?? null,
    valid: config !== undefined,
    problems: inFileOrder(problems).map(problemAsJson),
  };
  return `${JSON.stringify(result, null, 2)}\n`;
}

function problemAsJson({ severity, path, message, hint, place, file }: Problem): object {
  return {
    severity,
    path: formatPath(path),
    message,
    hint: hint ?? null,
    line: place?.line ?? null,
    column: place?.column ?? null,
    ...(file !== undefined && { file }),
  };
}

function buildShow(io: Io): Command {
  return createCommand({
    name: 'show',
    summary: 'print the effective configuration, secrets hidden',
    examples: ['gateway config show', 'gateway config show --origin', 'gateway config show -o json'],
  })
    .option('--origin', 'show where each value came from: environment, file and line, or default')
    .action(async ({ origin }: { origin?: true }, command: Command) => {
      const format = outputFormat(command, ['yaml', 'text', 'json']);
      const inspection = await inspectValidConfig(commonOptions(command), io);
      // Imported here because it pulls in the YAML writer, which nothing else needs.
      const { describeSettings, renderSettings } = await import('../config/show.ts');
      if (format !== 'json') {
        await print(renderSettings(inspection, { withOrigins: origin === true }), io);
        return;
      }
      const { path, settings, origins } = describeSettings(inspection);
      await print(`${JSON.stringify({ path, settings, ...(origin && { origins }) }, null, 2)}\n`, io);
    });
}

function buildPath(io: Io): Command {
  return createCommand({
    name: 'path',
    summary: 'print which file is used',
    examples: [
      'gateway config path',
      'gateway config path -o json',
      'GATEWAY_CONFIG=other.yaml gateway config path',
    ],
  }).action(async (_options: unknown, command: Command) => {
    const format = outputFormat(command, ['text', 'json']);
    const options = commonOptions(command);
    const found = await findConfig({ file: options.config, cwd: io.cwd, env: io.env });
    // A file that was named and can't be used is an error here as anywhere else.
    if (found !== undefined) await readConfigFile(found.path);
    if (format === 'json') {
      await print(`${JSON.stringify({ path: found?.path ?? null, from: found?.from ?? null })}\n`, io);
      return;
    }
    if (found !== undefined) await print(`${found.path}\n`, io);
    else if (options.quiet !== true) {
      await note(`no gateway.yaml: sandbox mode; ${describeSearch(io)}\n`, io);
    }
  });
}

function buildSchema(io: Io): Command {
  return createCommand({
    name: 'schema',
    summary: 'print the JSON Schema of gateway.yaml, for editors',
    examples: [
      'gateway config schema > gateway.schema.json',
      'gateway config schema | head',
      'gateway config schema -o json',
    ],
  }).action(async (_options: unknown, command: Command) => {
    outputFormat(command, ['json', 'text']);
    const { buildEditorSchema } = await import('../config/schema/json-schema.ts');
    await print(`${JSON.stringify(buildEditorSchema(), null, 2)}\n`, io);
  });
}
