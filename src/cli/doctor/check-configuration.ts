import { statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import type { Inspection } from '../../config/load.ts';
import { formatPath, inFileOrder, type Problem } from '../../config/source/problems.ts';
import { toGatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';
import { inspectUserConfig } from '../shell/load-config.ts';
import { about, type Diagnosis } from './finding.ts';

export interface CheckedConfiguration {
  readonly findings: readonly Diagnosis[];
  /** Absent if it is invalid. */
  readonly config?: Config | undefined;
  readonly path?: string | undefined;
  /** What the file holds. */
  readonly text: string;
}

const { ok, warning, error } = about('configuration');

export async function checkConfiguration(file: string | undefined, io: Io): Promise<CheckedConfiguration> {
  let inspection: Inspection;
  try {
    inspection = await inspectUserConfig({ config: file }, io);
  } catch (thrown) {
    const message = toGatewayError(thrown).message;
    return {
      findings: [error(message, 'make the file yours and readable only by you, or name another with -c')],
      text: '',
    };
  }
  const { config, found, name, text } = inspection;
  const problems = inFileOrder(inspection.problems).map((problem) => toFinding(problem, name));
  const findings = [...problems, ...(found === undefined ? [] : permissions(found.path, inspection))];
  if (found === undefined) findings.push(ok('no gateway.yaml: sandbox mode'));
  else if (config !== undefined) findings.push(ok(`${name} is valid`));
  return { findings, config, path: found?.path, text };
}

function toFinding(problem: Problem, readFile: string): Diagnosis {
  const { severity, path, message, hint, place, file: name = readFile } = problem;
  const where = place === undefined ? name : `${name}:${place.line}:${place.column}`;
  const subject = path.length === 0 ? '' : `${formatPath(path)}: `;
  const text = `${where}  ${subject}${message}`;
  const remedy = hint ?? `edit ${where}, then: gateway config check`;
  return severity === 'error' ? error(text, remedy) : warning(text, remedy);
}

/** Checks who can read or change a file with keys; one that everybody can change is refused when it is read. */
function permissions(path: string, { problems }: Inspection): Diagnosis[] {
  if (process.geteuid === undefined) return [];
  const { mode } = statSync(path);
  // A key in the file itself is a warning there already.
  const holdsKeys = problems.some(
    ({ path: at, kind }) => (at.at(-1) === 'api_key' || at[2] === 'api_keys') && kind !== 'want',
  );
  const findings: Diagnosis[] = [];
  if ((mode & 0o020) !== 0) {
    findings.push(warning(`${path} can be changed by its group`, `chmod g-w ${path}`));
  }
  if (holdsKeys && (mode & 0o044) !== 0) {
    findings.push(warning(`${path} holds keys and can be read by others`, `chmod 600 ${path}`));
  }
  return findings;
}
