import type { Inspection } from '../../config/load.ts';
import { formatPath } from '../../config/source/problems.ts';

// The policy engine, the schema and the YAML parser, as the commands need them. They import it when they run, so that
// completing their options doesn't load it.

export { decideOffline } from '../../gateway/offline/decide-offline.ts';
export { explainRequest } from '../../gateway/offline/explain-request.ts';
export { destinationNamed, guessDestination } from '../../gateway/offline/question.ts';
export { checkFixture, parseFixtures } from './fixtures.ts';
export { loadPolicies } from './load-policies.ts';
export { readRecords } from './recorded.ts';

/** One of a rule's own tests, identified by its place in the file; never with its text. */
export interface InlineCase {
  readonly path: string;
  readonly line: number | undefined;
  readonly rule: string;
  /** Why it failed; absent if it passed. */
  readonly failure?: string;
}

/** Every rule's own tests. They ran when the configuration was loaded; those that failed are among its problems. */
export function inlineCases({ settings, problems, source }: Inspection): readonly InlineCase[] {
  const failures = new Map(
    problems.filter(({ kind }) => kind === 'test').map(({ path, message }) => [formatPath(path), message]),
  );
  return Object.entries(settings?.policies ?? {}).flatMap(([policy, { rules }]) =>
    rules.flatMap((rule, index) =>
      (['block', 'allow'] as const).flatMap((list) =>
        (rule.tests?.[list] ?? []).map((_text, number) => {
          const path = ['policies', policy, 'rules', index, 'tests', list, number];
          const name = formatPath(path);
          const failure = failures.get(name);
          return {
            path: name,
            line: source?.locate(path, 'value')?.line,
            rule: rule.id,
            ...(failure === undefined ? {} : { failure }),
          };
        }),
      ),
    ),
  );
}
