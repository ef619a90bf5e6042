import { servicesIn } from '../../config/build/services.ts';
import { readSettings } from '../../config/build/settings.ts';
import { buildConfig, type Config, type ConfigSource } from '../../config/config.ts';
import { parseSource, type SourceDocument } from '../../config/source/document.ts';
import { createReport, type ProblemSink } from '../../config/source/report.ts';
import { isOfUser } from '../../config/user-file.ts';
import { GatewayError } from '../../errors.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import {
  explainRequest,
  type ExplainReport as RequestReport,
} from '../../gateway/offline/explain-request.ts';
import { destinationNamed, guessDestination, type Question } from '../../gateway/offline/question.ts';
import type { TryPolicyResponse } from '../contract/actions.ts';
import type { RuleDetail } from '../contract/exchange-detail.ts';
import { toBody } from '../detail/answer-parts.ts';
import { findMarks, findRedactions } from '../detail/marks.ts';
import { type DecisionInput, type Explained, matchMarks, withExcerpts } from '../detail/to-detail.ts';
import { ruleLines } from './rule-file.ts';

/** A request to be decided on; plain data, for another thread. */
export interface DecisionTask extends DecisionInput {
  readonly source: ConfigSource;
  /** Rules that replace the configured ones. */
  readonly policies?: string;
}

/** Each is looked for in every body. */
const maxMasked = 200;

/** What each rule of the configuration in force decides about a request, and what is masked in it. */
export async function explainDetails(config: Config, input: DecisionInput): Promise<Explained> {
  const question = toQuestion(config, input);
  const report = await explainRequest(question);
  const rules = toDetails(report);
  const masks = rules.some(({ action, matched }) => action === 'mask' && matched);
  const masked = masks ? (await decideOffline(question)).masked.slice(0, maxMasked) : [];
  return { rules, masked, examples: report.examples ?? [] };
}

/** Decides by scratch rules. Throws usage.invalid for a key or endpoint that is not known. */
export async function tryTask({ source, policies = '', ...input }: DecisionTask): Promise<TryPolicyResponse> {
  const scratch = parseSource(policies);
  // The keys in the rest of the configuration came from the environment.
  const { references } = source;
  const report = createReport({ source: below('policies', scratch), references });
  report.add(scratch.problems);
  const config = scratch.problems.length === 0 ? withPolicies(source, scratch, report) : undefined;
  const errors = report.problems.filter(({ severity }) => severity === 'error');
  if (config === undefined || errors.length > 0) {
    const problems = errors.map(({ path, message, place, hint }) => ({
      line: place?.line ?? 1,
      column: place?.column ?? 1,
      message: [
        place === undefined ? `${path.join('.')}: ${message}` : message,
        ...(hint === undefined ? [] : [hint]),
      ].join('; '),
    }));
    return { kind: 'invalid', problems };
  }
  return decide(config, input, policies);
}

async function decide(config: Config, input: DecisionInput, policies: string): Promise<TryPolicyResponse> {
  const question = toQuestion(config, input);
  const report = await explainRequest(question);
  const lines = ruleLines(policies, config.source.settings.policies, { file: 'scratch', path: [] });
  const rules = withExcerpts(toDetails(report), question.body, same).map((rule) => ({
    ...rule,
    source: lines.get(rule.rule),
  }));
  const { decision, rule, reason, message, at, microseconds = 0 } = report;
  const request = toBody(question.body, same, (text) => findMarks(text, matchMarks(rules, 'request')));
  const redacted =
    decision === 'redact' || decision === 'mask' ? (await decideOffline(question)).replaced : undefined;
  return {
    kind: 'decided',
    decision,
    rule,
    reason,
    message,
    at,
    rules,
    examples: report.examples ?? [],
    microseconds,
    request,
    redacted: redacted && toBody(redacted, same, (text) => findRedactions(text, request.text, rules)),
  };
}

/** The user gets back their own text, so nothing is masked. */
function same(text: string): string {
  return text;
}

function withPolicies(
  source: ConfigSource,
  scratch: SourceDocument,
  report: ProblemSink,
): Config | undefined {
  const value = { policies: scratch.value ?? {} };
  const read = readSettings({ value, references: [], source: below('policies', scratch), report });
  refuseOtherServices(read.settings?.policies ?? {}, source.settings, report);
  if (read.settings === undefined || report.problems.some(({ severity }) => severity === 'error'))
    return undefined;
  const { addedKeys, ...rest } = source;
  // Those of the user's own file hold over the other one.
  const user = Object.entries(source.settings.policies).filter(([name]) => isOfUser(name));
  const policies = { ...read.settings.policies, ...Object.fromEntries(user) };
  const settings = { ...source.settings, policies };
  const config = buildConfig({ ...rest, settings, report, failedTests: 'warning' });
  return addedKeys.reduce((one, key) => one.withKey(key), config);
}

/** What is tried may be anybody's text: it goes to no service but those that the configuration in force names. */
function refuseOtherServices(
  policies: ConfigSource['settings']['policies'],
  inForce: ConfigSource['settings'],
  report: ProblemSink,
): void {
  const known = new Set(servicesIn(inForce).map(({ url }) => url));
  for (const { url, path } of servicesIn({ policies })) {
    if (known.has(url)) continue;
    report.error(
      path,
      'no rule in force asks this service, so it is not asked here: "gateway policy test" does',
    );
  }
}

/** A document as if it were nested under a key. */
function below(key: string, source: SourceDocument): SourceDocument {
  const isBelow = (path: readonly PropertyKey[]) => path[0] === key;
  return {
    ...source,
    value: { [key]: source.value },
    has: (path) => isBelow(path) && source.has(path.slice(1)),
    locate: (path, part) => (isBelow(path) ? source.locate(path.slice(1), part) : undefined),
  };
}

function toQuestion(config: Config, { body, endpoint, key: id, sender, atMs }: DecisionInput): Question {
  // What another thread was sent is no Buffer any more.
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const keys = [...config.keys.records()];
  const key = id === undefined ? keys[0] : keys.find((each) => each.id === id);
  if (key === undefined)
    throw new GatewayError('request.field', `there is no key ${id ?? ''}`, { param: '/key' });
  return {
    config,
    key,
    ...(endpoint === undefined ? guessDestination(bytes) : destinationNamed(endpoint)),
    body: bytes,
    sender,
    nowMs: atMs,
  };
}

/** All rules on the request, and those that match the outgoing request. */
function toDetails({ rules, outgoing = [] }: RequestReport): readonly RuleDetail[] {
  const leaving = outgoing.flatMap(({ rules: there }) => there.filter(({ matched }) => matched));
  return [
    ...rules.map((rule) => ({ ...rule, on: 'request' as const })),
    ...leaving.map((rule) => ({ ...rule, on: 'outgoing' as const })),
  ];
}
