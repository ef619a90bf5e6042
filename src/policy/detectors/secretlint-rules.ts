import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { Finding } from './detector.ts';
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
  npm: { marks: /npm_/ },
  slack: { literals: ['hooks.slack.com'], marks: /xox[bpaor]-|xapp-/ },
  shopify: { marks: /shp(?:pa|ca|at|ss)_/ },
  github: { marks: /gh[opsur]_|github_pat_/ },
  openai: { marks: /T3BlbkFJ/ },
  anthropic: { marks: /sk-ant-api0/ },
  linear: { marks: /lin_api_/ },
};

interface Gate {
  /** Looked for in the whole text. */
  readonly literals?: readonly string[];
  /** Looked for in the long stretches only. */
  readonly marks?: RegExp;
}

const ruleName = /[^-]+$/;
const anyMark = new RegExp(
  Object.values(gates)
    .flatMap(({ marks }) => (marks === undefined ? [] : [marks.source]))
    .join('|'),
);

/**
 * Runs secretlint's rules on a text, synchronously: their `file` functions only search a string, while secretlint's
 * core is asynchronous and reports through events.
 */
export function findBySecretlint(text: string, runs: readonly Finding[]): readonly Finding[] {
  const marked = runs.map((run) => text.slice(run.start, run.end)).filter((content) => anyMark.test(content));
  return rules.flatMap((rule) => {
    const gate = gates[ruleName.exec(rule.meta.id)?.[0] ?? ''];
    return gate !== undefined && isOpen(gate, text, marked) ? run(rule, text) : [];
  });
}

function isOpen({ literals = [], marks }: Gate, text: string, marked: readonly string[]): boolean {
  if (marks !== undefined && marked.some((content) => marks.test(content))) return true;
  return literals.some((literal) => text.includes(literal));
}

function run(rule: Rule, text: string): readonly Finding[] {
  const findings: Finding[] = [];
  const handler = rule.create(
    {
      sharedOptions: {},
      createTranslator: () => (messageId) => ({ message: '', messageId: String(messageId), data: undefined }),
      report: ({ range: [start, end] }) => findings.push({ start, end }),
      ignore: () => undefined,
    },
    {},
  );
  handler.file?.(sourceOf(text));
  return findings.filter(({ start, end }) => !isPlaceholder(secretPart(text.slice(start, end))));
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
