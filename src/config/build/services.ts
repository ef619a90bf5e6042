import { isLoopbackHost } from '../../lib/loopback.ts';
import type { Settings } from '../schema/schema.ts';
import type { ProblemSink } from '../source/report.ts';

/** A service that is asked about texts, and where the file names it. */
interface NamedService {
  readonly url: string;
  readonly path: readonly PropertyKey[];
}

/** Each service that a rule or an entry of the model list asks, once for each place. */
export function servicesIn({
  policies,
  models = [],
}: Pick<Settings, 'policies'> & Partial<Pick<Settings, 'models'>>): readonly NamedService[] {
  const holders = [
    ...Object.entries(policies).flatMap(([name, { rules }]) =>
      rules.map((rule, i) => ({ conditions: rule, path: ['policies', name, 'rules', i] })),
    ),
    ...models.map((entry, i) => ({ conditions: entry, path: ['models', i] })),
  ];
  return holders.flatMap(({ conditions, path }) =>
    (['when', 'unless'] as const).flatMap((side) => {
      const url = conditions[side]?.check?.url;
      return url === undefined ? [] : [{ url, path: [...path, side, 'check', 'url'] }];
    }),
  );
}

/** Warns of texts that go over the network as they are. */
export function warnOfUnencrypted(settings: Settings, report: ProblemSink): void {
  for (const { url, path } of servicesIn(settings)) {
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !isLoopbackHost(hostname)) {
      report.warn(path, 'the texts of requests go over the network unencrypted, before anything is redacted');
    }
  }
}
