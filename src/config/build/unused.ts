import { overlaps } from '../../policy/glob.ts';
import type { PolicyOptions } from '../../policy/rules/schema.ts';
import type { Settings } from '../schema/schema.ts';
import type { ProblemSink } from '../source/report.ts';
import { targetsIn } from './models.ts';

type Path = readonly PropertyKey[];

/** Warns of what is written down and has no effect: names that match no model or project, policies that apply to nothing. */
export function warnOfUnused(settings: Settings, isSandboxMode: boolean, report: ProblemSink): void {
  const { models = [], projects = {}, policies, records } = settings;
  if (records.ledger_file !== null && records.ledger_database !== null) {
    report.error(
      ['records', 'ledger_file'],
      'a ledger is kept in a file or in a database: leave out one of them',
    );
  }
  if (records.ledger_sync === 'always' && !(records.ledger ?? !isSandboxMode)) {
    report.error(['records', 'ledger_sync'], 'there is no ledger to write through', {
      hint: 'set records.ledger: true',
    });
  }
  const modelNames = new Set(
    models.flatMap((entry) => [entry.match, ...targetsIn(entry).flatMap(({ model }) => model ?? [])]),
  );
  const requested = new Set(models.map(({ match }) => match));
  const projectNames = new Set(Object.keys(projects));
  for (const [name, project] of Object.entries(projects)) {
    warnOfUnmatched(['projects', name, 'models'], project.models, {
      known: requested,
      what: 'model',
      report,
    });
  }
  const named = new Set(
    Object.values(projects).flatMap((project) => [
      ...project.policies,
      ...project.keys.flatMap((key) => key.policies),
    ]),
  );
  for (const [name, policy] of Object.entries(policies)) {
    if (policy.apply === 'named' && !named.has(name)) {
      report.warn(['policies', name], 'applies to nothing: no project and no key names it', { part: 'key' });
    }
    if (decidesNothing(policy)) report.warn(['policies', name], 'has no rules', { part: 'key' });
    for (const [i, { when }] of policy.rules.entries()) {
      const path = ['policies', name, 'rules', i, 'when'];
      warnOfUnmatched([...path, 'model'], when?.model, { known: modelNames, what: 'model', report });
      warnOfUnmatched([...path, 'project'], when?.project, { known: projectNames, what: 'project', report });
    }
  }
}

interface Names {
  readonly known: ReadonlySet<string>;
  readonly what: 'model' | 'project';
  readonly report: ProblemSink;
}

function warnOfUnmatched(
  path: Path,
  patterns: readonly string[] | undefined,
  { known, what, report }: Names,
): void {
  for (const [i, pattern] of (patterns ?? []).entries()) {
    if (known.has(pattern) || [...known].some((name) => overlaps(name, pattern))) continue;
    report.warn([...path, i], `"${pattern}" matches no configured ${what}`);
  }
}

export function decidesNothing(policy: PolicyOptions): boolean {
  const { rules, default: fallback, opaque_content: opaque, unseen_references: unseen } = policy;
  return rules.length === 0 && fallback === 'allow' && opaque === 'allow' && unseen === 'allow';
}
