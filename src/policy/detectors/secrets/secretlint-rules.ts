import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { Finding } from '../detector.ts';
import { isPlaceholder } from './placeholder.ts';

type Rule = (typeof rules)[number];
type Source = Parameters<NonNullable<ReturnType<Rule['create']>['file']>>[0];

/**
 * Rules of secretlint's preset that are used, each with what a text must hold to be worth running it.
 * Left out: `filter-comments`, with which a comment in the text switches the search off; `gcp`, which looks into
 * files; `aws`, which reports a wrong place; `1password`, which misses two tokens of three; `privatekey`, `sendgrid`, `basicauth` and
 * `database-connection-string`, which our own do better.
 */
const gates: Readonly<Record<string, Gate>> = {
  npm: { mark: /npm_/, shortest: 40 },
  slack: { mark: /xox[bpaor]-|xapp-/, shortest: 16, literal: 'hooks.slack.com' },
  shopify: { mark: /shp(?:pa|ca|at|ss)_/, shortest: 38 },
  github: { mark: /gh[opsur]_|github_pat_/, shortest: 40 },
  openai: { mark: /T3BlbkFJ/, shortest: 51 },
  anthropic: { mark: /sk-ant-api0/, ending: 'AA', shortest: 105 },
  linear: { mark: /lin_api_/, shortest: 40 },
};

/**
 * What the rules look for, but for web addresses, is made of letters, digits, "_" and "-" alone, so it is within one
 * of the long stretches, and the rules need not read more than that.
 */
interface Gate {
  /** In each stretch that the rule finds something in. */
  readonly mark: RegExp;
  /** Fewest characters that the rule finds. */
  readonly shortest: number;
  /** How the stretch ends. */
  readonly ending?: string;
  /** In a text of which the rule has to read the whole. */
  readonly literal?: string;
}

const ruleName = /[^-]+$/;
const anyMark =
  /npm_|xox[bpaor]-|xapp-|shp(?:pa|ca|at|ss)_|gh[opsur]_|github_pat_|T3BlbkFJ|sk-ant-api0|lin_api_/;

const usedRules = rules.flatMap((rule) => {
  const gate = gates[ruleName.exec(rule.meta.id)?.[0] ?? ''];
  return gate === undefined ? [] : [{ gate, rule }];
});

/**
 * Runs secretlint's rules on a text, synchronously: their `file` functions only search a string, while secretlint's
 * core is asynchronous and reports through events.
 */
export function findBySecretlint(text: string, runs: readonly Finding[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { gate, rule } of usedRules) {
    if (gate.literal !== undefined && text.includes(gate.literal)) findings.push(...run(rule, text));
  }
  for (const { start, end } of runs) {
    const content = text.slice(start, end);
    if (!anyMark.test(content)) continue;
    for (const { gate, rule } of usedRules) {
      if (content.length < gate.shortest || !content.endsWith(gate.ending ?? '')) continue;
      if (!gate.mark.test(content)) continue;
      // Rules look at a character before and after what they find.
      const from = Math.max(0, start - 2);
      for (const found of run(rule, text.slice(from, end + 1))) {
        findings.push({ start: from + found.start, end: from + found.end });
      }
    }
  }
  return findings;
}

/** The rule is made anew for each text: it reports to what it was made with, and hardly a text has a mark. */
function run(rule: Rule, text: string): readonly Finding[] {
  const reported: Finding[] = [];
  const handler = rule.create(
    {
      sharedOptions: {},
      createTranslator: () => (messageId) => ({ message: '', messageId: String(messageId), data: undefined }),
      report: ({ range: [start, end] }) => reported.push({ start, end }),
      ignore: () => undefined,
    },
    {},
  );
  handler.file?.(sourceOf(text));
  return reported.filter(({ start, end }) => !isPlaceholder(secretPart(text.slice(start, end))));
}

/** What follows the longest prefix that the rules know; of a URL its last part. */
function secretPart(found: string): string {
  return found
    .replace(/^https?:.*\//, '')
    .replace(/^[A-Za-z]{2,6}(?:[_-][a-z]{2,8}\d{0,2}(?=[_-]))?[_-]/, '');
}

/** The rules read the text alone; places in lines are asked for by the rule that is left out. */
function sourceOf(content: string): Source {
  const start = { line: 1, column: 0 };
  return {
    content,
    hasBOM: false,
    filePath: undefined,
    physicalFilePath: undefined,
    contentType: 'text',
    ext: '',
    getFilePath: () => undefined,
    getPhysicalFilePath: () => undefined,
    locationToRange: () => [0, content.length],
    rangeToLocation: () => ({ start, end: start }),
    positionToIndex: () => 0,
    indexToPosition: () => start,
  };
}
