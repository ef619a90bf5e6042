import type { Command } from 'commander';
import type { UserProtection } from '../../config/user-file.ts';
import { GatewayError } from '../../errors.ts';
import {
  type ExplainReport,
  explainRequest,
  type OutgoingReport,
  type RuleReport,
} from '../../gateway/offline/explain-request.ts';
import {
  destinationNamed,
  guessDestination,
  type PredictedDecision,
  type RouteReport,
} from '../../gateway/offline/question.ts';
import type { AgentName } from '../../gateway/sender.ts';
import type { Detected } from '../../policy/rule.ts';
import { ownPolicies, toOwnPolicies } from '../serve/banner.ts';
import { type CommonOptions, commonOptions, outputFormat } from '../shell/command.ts';
import { readFileOrInput } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';
import { print, shownBody } from '../shell/print/print.ts';
import { table } from '../shell/print/table.ts';
import { type Fixture, parseFixtures, senderOf } from './fixtures.ts';
import { loadPolicies } from './load-policies.ts';

interface ExplainOptions extends CommonOptions {
  readonly key?: string;
  readonly endpoint?: string;
  /** Milliseconds since 1970. */
  readonly time?: number;
  /** What its client says of itself. */
  readonly client?: AgentName;
  readonly session?: string;
  readonly class?: string;
}

/** Throws policy.blocked if the request is. */
export async function printExplanation(file: string, command: Command, io: Io): Promise<void> {
  const format = outputFormat(command, ['text', 'table', 'json', 'ndjson']);
  const options = commonOptions(command) as ExplainOptions;
  const policies = await loadPolicies(options, io);
  const given = await readRequest(file, io);
  const report = await explainRequest({
    config: policies.config,
    key: policies.findKey(options.key ?? given.key),
    ...(options.endpoint === undefined ? given.destination : destinationNamed(options.endpoint)),
    body: given.body,
    sender: { ...given.sender, ...senderOf(options) },
    nowMs: options.time ?? given.nowMs ?? Date.now(),
  });
  const isForPeople = format === 'table' || io.stdout.isTTY === true;
  const { user } = policies.inspection;
  if (format === 'text' || format === 'table') await print(toText(report, isForPeople, user), io);
  else {
    const value = { ...report, ...(user && { own_policies: toOwnPolicies(user) }) };
    await print(`${JSON.stringify(value, null, format === 'json' ? 2 : 0)}\n`, io);
  }
  if (report.decision === 'block') throw blocked(report);
}

type Request = Pick<Fixture, 'body' | 'destination'> & Partial<Pick<Fixture, 'key' | 'nowMs' | 'sender'>>;

async function readRequest(file: string, io: Io): Promise<Request> {
  const bytes = await readFileOrInput(file, io).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || /^-$|[./]/.test(file)) throw error;
    // What has neither folder nor extension is rather a text that somebody wants to try.
    const hint = 'for a text, gateway send --dry-run TEXT shows what would leave';
    throw new GatewayError('usage.invalid', `${error.message}; ${hint}`, { cause: error });
  });
  if (!/\.ya?ml$/i.test(file)) return { body: bytes, destination: guessDestination(bytes) };
  const [first, second] = parseFixtures(bytes.toString(), file);
  if (first !== undefined && second === undefined) return first;
  throw new GatewayError(
    'usage.invalid',
    `${file}: expected one fixture; "gateway policy test" takes several`,
  );
}

function toText(report: ExplainReport, isForPeople: boolean, user: UserProtection | undefined): string {
  const { endpoint, key, project, model, target_models: names = [], served, outgoing = [] } = report;
  const others = [...new Set(names)].filter((name) => name !== model);
  const as = others.length === 0 ? '' : ` (there ${others.join(', ')})`;
  const lines = [
    `request   ${endpoint}, key ${key} of project ${project}${model === undefined ? '' : `, model ${model}${as}`}`,
    ...(user === undefined ? [] : [`policies  ${ownPolicies(user)}`]),
    ...(served === false ? ['note      no configured provider serves this model'] : []),
  ];
  const time = report.microseconds === undefined ? '' : `, ${report.microseconds}us`;
  const decisions = decisionLines(report, 'decision  ', time);
  const sent = outgoing.map((each) => outgoingText(each, isForPeople)).join('');
  return `${lines.join('\n')}\n${rulesTable(report.rules, isForPeople)}${bodyText(report)}${sent}${decisions.join('\n')}\n`;
}

function rulesTable(rules: readonly RuleReport[], isForPeople: boolean): string {
  const header = ['RULE', 'POLICY', 'ACTION', 'MODE', 'MATCHED', 'TIME', 'WHERE'];
  return rules.length === 0 ? '' : `${table(header, rules.flatMap(toRows), isForPeople)}`;
}

/** What would be sent to a target, with the rules that match there. */
function outgoingText(report: OutgoingReport, isForPeople: boolean): string {
  const { target, dialect, unsupported, rules, changed = [] } = report;
  const matched = rules.filter((rule) => rule.matched);
  const found = matched.length === 0 ? ', where no rule matches' : '';
  const what = unsupported === undefined ? `as ${dialect}${found}` : `not sent: ${unsupported}`;
  const names = changed.length === 0 ? '' : `, with ${changed.join(', ')}`;
  return `to ${target}, ${what}${names}\n${rulesTable(matched, isForPeople)}${bodyText(report)}`;
}

/** The body as it leaves, if something in it was replaced. */
function bodyText({ body }: Pick<ExplainReport, 'body'>): string {
  return body === undefined ? '' : `body      ${shownBody(body)}\n`;
}

/** A rule's row, and one more for each further place. */
function toRows(rule: RuleReport): readonly (readonly string[])[] {
  const { policy, action, mode, matched, failed, microseconds, matches } = rule;
  const [first, ...others] = matches.flatMap(({ at, view, matcher, count, detected = [] }) => [
    [at === '' ? '(request)' : at, view ?? matcher, ...(count > 1 ? [`${count} times`] : [])].join(' '),
    ...detected.map(toDetected),
  ]);
  const result = failed ? 'failed' : matched ? 'yes' : 'no';
  const row = [rule.rule, policy, action, mode, result, `${microseconds}us`, first ?? ''];
  return [row, ...others.map((place) => ['', '', '', '', '', '', place])];
}

/** `  secrets: certain (GitHub, checksum)` */
function toDetected({ detector, confidence, why }: Detected): string {
  return `  ${detector}: ${confidence}${why === undefined ? '' : ` (${why})`}`;
}

/** The error for what a policy would refuse. */
export function blocked({ message, reason, at }: PredictedDecision): GatewayError {
  return new GatewayError('policy.blocked', message ?? 'the request is blocked', {
    ...(reason !== undefined && { reason }),
    ...(at !== undefined && { param: at }),
  });
}

/** A line for each entry of the model list that was considered, and one for where the request goes by them. */
function routeLines({ entries, targets }: RouteReport): string[] {
  const first = entries.findIndex(({ holds }) => holds);
  const considered = entries.slice(0, first < 0 ? entries.length : first + 1);
  const lines = considered.map(({ entry, match, holds, matches, may_be_held: mayBeHeld }) => {
    const [place] = matches;
    const at = place === undefined || place.at === '' ? '' : ` at ${place.at}`;
    const why = place === undefined ? 'it has no conditions' : `${place.matcher}${at}`;
    const held = mayBeHeld ? ', unless for a conversation that was larger before' : '';
    return `models[${entry}] (${match}): ${holds ? `taken, ${why}` : `its conditions do not hold${held}`}`;
  });
  const to = targets.length === 0 ? 'nowhere' : `to ${targets.join(', else ')}`;
  return [...lines, to].map((line, i) => `${i === 0 ? 'route     ' : '          '}${line}`);
}

/** What the policies decide, in lines; the first ends with the `suffix`. */
export function decisionLines(predicted: PredictedDecision, label: string, suffix: string): string[] {
  const { decision, rule, reason, at, would_block: wouldBlock, warnings, unseen, examples = [] } = predicted;
  const { route } = predicted;
  const by = rule === undefined ? '' : ` by ${rule}`;
  const why = reason === undefined || decision === 'allow' ? '' : `, ${reason}`;
  const where = at === undefined ? '' : ` at ${at}`;
  const pieces = unseen === 1 ? 'a piece' : `${unseen} pieces`;
  return [
    ...(route === undefined ? [] : routeLines(route)),
    `${label}${decision}${by}${why}${where}${suffix}`,
    ...(wouldBlock.length === 0 ? [] : [`monitor   would block: ${wouldBlock.join(' ')}`]),
    ...(warnings.length === 0 ? [] : [`warnings  ${warnings.join(' ')}`]),
    ...examples.map((place) => `passed    ${place}: looks like a documentation example, not replaced`),
    ...(unseen === 0 ? [] : [`unseen    ${pieces} of content that no rule could look into`]),
  ];
}
