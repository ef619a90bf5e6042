import { type Command, InvalidArgumentError } from 'commander';
import { GatewayError } from '../../errors.ts';
import type { ModelEndpoint } from '../../gateway/endpoints.ts';
import type { RuleExplanation } from '../../policy/explain.ts';
import type { Decision, Detected } from '../../policy/rule.ts';
import { commonOptions, createCommand } from '../shell/command.ts';
import { type Io, write } from '../shell/io.ts';
import { outputFormat } from '../shell/output-format.ts';
import { table } from '../shell/terminal.ts';
import { readOffline, toOutcome, toStricter } from './decide-offline.ts';
import { type Fixture, parseFixtures } from './fixtures.ts';
import { type BuiltForTarget, buildForTargets } from './judge-targets.ts';
import { loadPolicies } from './load-policies.ts';
import type { Outcome, Question } from './question.ts';
import { readFileOrInput } from './read-file.ts';
import { endpointNamed, guessEndpoint } from './request-endpoint.ts';

interface ExplainOptions {
  readonly key?: string;
  readonly endpoint?: string;
  readonly time?: number;
}

/** What is printed: of a rule where it matched, never what. */
interface Report extends Outcome {
  readonly endpoint: string;
  readonly key: string;
  readonly project: string;
  readonly model?: string;
  readonly target_models?: readonly string[];
  /** Whether a configured provider serves the model; the gateway answers 404 or 503 where none does. */
  readonly served?: boolean;
  readonly rules: readonly RuleReport[];
  /** Of all rules together, which share one reading of the body. */
  readonly microseconds?: number;
  /** What would be sent in place of the client's own bytes; places are pointers into that. */
  readonly outgoing?: readonly OutgoingReport[];
}

interface OutgoingReport extends Partial<Outcome> {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: string;
  /** Why the target can't take the request. */
  readonly unsupported?: string;
  readonly rules: readonly RuleReport[];
}

type RuleReport = Omit<RuleExplanation, 'failure'> & { readonly failed: boolean };

export function build(io: Io): Command {
  return createCommand({
    name: 'explain',
    summary: 'say of a request what each rule makes of it; exit 3 where it is blocked',
    examples: [
      'gateway policy explain request.json',
      'gateway policy explain request.json --endpoint chat --key shop-web',
      'gateway policy explain - -o json < request.json',
    ],
  })
    .argument('<file>', 'the body of a request as it is sent, or a fixture (.yaml); - reads standard input')
    .option('--key <id>', 'key that the request comes with (default: the only one)')
    .option('--endpoint <name>', 'where it is sent: messages, count_tokens, chat, responses, embeddings')
    .option('--time <time>', 'when it is sent, for rules that look at the time (default: now)', timeArgument)
    .action(async (file: string, options: ExplainOptions, command: Command) => {
      const format = outputFormat(command, ['text', 'table', 'json', 'ndjson']);
      const policies = await loadPolicies(commonOptions(command), io);
      const given = await readRequest(file, io);
      const question: Question = {
        config: policies.config,
        key: policies.findKey(options.key ?? given.key),
        endpoint: options.endpoint === undefined ? given.endpoint : endpointNamed(options.endpoint),
        body: given.body,
        nowMs: options.time ?? given.nowMs ?? Date.now(),
      };
      const report = explain(question);
      const isForPeople = format === 'table' || io.stdout.isTTY === true;
      if (format === 'text' || format === 'table') await write(io.stdout, toText(report, isForPeople));
      else await write(io.stdout, `${JSON.stringify(report, null, format === 'json' ? 2 : 0)}\n`);
      if (report.decision !== 'block') return;
      throw new GatewayError('policy.blocked', report.message ?? 'the request is blocked', {
        ...(report.reason === undefined ? {} : { reason: report.reason }),
        ...(report.at === undefined ? {} : { param: report.at }),
      });
    });
}

type Request = Pick<Fixture, 'key' | 'nowMs' | 'body'> & { readonly endpoint: ModelEndpoint };

async function readRequest(file: string, io: Io): Promise<Request> {
  const bytes = await readFileOrInput(file, io);
  if (!/\.ya?ml$/i.test(file)) return { body: bytes, endpoint: guessEndpoint(bytes) };
  const [first, second] = parseFixtures(bytes.toString(), file);
  if (first !== undefined && second === undefined) return first;
  throw new GatewayError(
    'usage.invalid',
    `${file}: expected one fixture; "gateway policy test" takes several`,
  );
}

function explain(question: Question): Report {
  const { endpoint, key } = question;
  const about = { endpoint: endpoint.name, key: key.id, project: key.project };
  const read = readOffline(question);
  if (read.kind === 'refused') return { ...about, ...read.outcome, rules: [] };
  const { subject, targets } = read;
  const { decision, rules, microseconds } = key.policies.explain(subject, nowUs);
  const built = buildForTargets(question, read, decision).map((each) => explainBuilt(each, key));
  // What the gateway decides is about the first target that takes the request.
  const first = built.find(({ kind }) => kind !== 'unsupported')?.decision;
  const outgoing = built.filter(({ kind }) => kind !== 'own bytes').map(({ report }) => report);
  return {
    ...about,
    model: subject.model,
    target_models: subject.targetModels,
    served: targets.length > 0,
    ...(first === undefined ? toOutcome(decision) : toStricter(decision, first)),
    rules: rules.map(toReport),
    microseconds: Math.round(microseconds),
    ...(outgoing.length === 0 ? {} : { outgoing }),
  };
}

interface ExplainedTarget {
  readonly kind: BuiltForTarget['kind'];
  readonly report: OutgoingReport;
  readonly decision?: Decision;
}

function explainBuilt(built: BuiltForTarget, { policies }: Question['key']): ExplainedTarget {
  const { kind, target, dialect } = built;
  const about = { target, dialect };
  if (built.kind === 'own bytes') return { kind, report: { ...about, rules: [] } };
  if (built.kind === 'unsupported') {
    return { kind, report: { ...about, unsupported: built.reason, rules: [] } };
  }
  const { decision, rules } = policies.explain(built.subject, nowUs);
  return { kind, decision, report: { ...about, ...toOutcome(decision), rules: rules.map(toReport) } };
}

function toReport({ failure, ...rule }: RuleExplanation): RuleReport {
  return { ...rule, microseconds: Math.round(rule.microseconds), failed: failure !== undefined };
}

function nowUs(): number {
  return performance.now() * 1_000;
}

function toText(report: Report, isForPeople: boolean): string {
  const { endpoint, key, project, model, target_models: names = [], served, outgoing = [] } = report;
  const others = [...new Set(names)].filter((name) => name !== model);
  const as = others.length === 0 ? '' : ` (there ${others.join(', ')})`;
  const lines = [
    `request   ${endpoint}, key ${key} of project ${project}${model === undefined ? '' : `, model ${model}${as}`}`,
    ...(served === false ? ['note      no configured provider serves this model'] : []),
  ];
  const sent = outgoing.map((each) => outgoingText(each, isForPeople)).join('');
  return `${lines.join('\n')}\n${rulesTable(report.rules, isForPeople)}${sent}${decisionLines(report).join('\n')}\n`;
}

function rulesTable(rules: readonly RuleReport[], isForPeople: boolean): string {
  const header = ['RULE', 'POLICY', 'ACTION', 'MODE', 'MATCHED', 'TIME', 'WHERE'];
  return rules.length === 0 ? '' : `${table(header, rules.flatMap(toRows), isForPeople)}`;
}

/** What a target would be sent, with the rules that match there. */
function outgoingText({ target, dialect, unsupported, rules }: OutgoingReport, isForPeople: boolean): string {
  const matched = rules.filter((rule) => rule.matched);
  const found = matched.length === 0 ? ', where no rule matches' : '';
  const what = unsupported === undefined ? `as ${dialect}${found}` : `not sent: ${unsupported}`;
  return `to ${target}, ${what}\n${rulesTable(matched, isForPeople)}`;
}

/** A rule's own line, and one more for every further place. */
function toRows(rule: RuleReport): readonly (readonly string[])[] {
  const { policy, action, mode, matched, failed, microseconds, matches } = rule;
  const [first, ...others] = matches.flatMap(({ at, view, matcher, count, detected = [] }) => [
    [at === '' ? '(request)' : at, view ?? matcher, ...(count > 1 ? [`${count} times`] : [])].join(' '),
    ...detected.map(toDetected),
  ]);
  const said = failed ? 'failed' : matched ? 'yes' : 'no';
  const row = [rule.rule, policy, action, mode, said, `${microseconds}us`, first ?? ''];
  return [row, ...others.map((place) => ['', '', '', '', '', '', place])];
}

/** `  secrets: certain (GitHub, checksum)` */
function toDetected({ detector, confidence, why }: Detected): string {
  return `  ${detector}: ${confidence}${why === undefined ? '' : ` (${why})`}`;
}

function decisionLines(report: Report): string[] {
  const { decision, rule, reason, at, would_block: wouldBlock, warnings, unseen, microseconds } = report;
  const by = rule === undefined ? '' : ` by ${rule}`;
  const why = reason === undefined || decision === 'allow' ? '' : `, ${reason}`;
  const where = at === undefined ? '' : ` at ${at}`;
  const time = microseconds === undefined ? '' : `, ${microseconds}us`;
  return [
    `decision  ${decision}${by}${why}${where}${time}`,
    ...(wouldBlock.length === 0 ? [] : [`monitor   would block: ${wouldBlock.join(' ')}`]),
    ...(warnings.length === 0 ? [] : [`warnings  ${warnings.join(' ')}`]),
    ...(unseen === 0 ? [] : [`unseen    ${unseen} pieces of content that no rule could look into`]),
  ];
}

function timeArgument(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('expected a time such as 2026-01-07T12:00:00Z');
  return time;
}
