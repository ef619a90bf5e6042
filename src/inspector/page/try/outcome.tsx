import type { TryPolicyAnswer } from '../../contract/actions.ts';
import { BodyColumn } from '../exchange/request-tab.tsx';
import { Rules } from '../exchange/rules.tsx';
import { formatMicroseconds } from '../format.ts';
import { visible, visibleLine } from '../text/visible.ts';
import type { TryOutcome } from './scratch.ts';

interface Properties {
  readonly outcome: TryOutcome | undefined;
  onLine(line: number): void;
}

/** The verdict, which screen readers announce whenever it changes, and below it how it came about. */
export function Outcome({ outcome, onLine }: Properties) {
  return (
    <>
      <div role="status">
        <Verdict outcome={outcome} />
      </div>
      {outcome?.kind === 'invalid' && <Problems problems={outcome.problems} onLine={onLine} />}
      {outcome?.kind === 'decided' && <Decided outcome={outcome} onLine={onLine} />}
    </>
  );
}

const words = {
  allow: 'It would be allowed',
  warn: 'It would be allowed, with a warning',
  mask: 'It would be sent with placeholders',
  redact: 'It would be sent with redactions',
  block: 'It would be blocked',
} as const;

function Verdict({ outcome }: Pick<Properties, 'outcome'>) {
  switch (outcome?.kind) {
    case undefined:
      return <p class="note">Deciding …</p>;
    case 'failed':
      return <p class="problem">{visible(outcome.message)}</p>;
    case 'invalid':
      return <h2 class="verdict-line block">The rules can't be read</h2>;
    case 'decided':
      return <h2 class={`verdict-line ${outcome.decision}`}>{words[outcome.decision]}</h2>;
  }
}

interface ProblemsProperties extends Pick<Properties, 'onLine'> {
  readonly problems: Extract<TryPolicyAnswer, { kind: 'invalid' }>['problems'];
}

function Problems({ problems, onLine }: ProblemsProperties) {
  return (
    <ul class="problems">
      {problems.map(({ line, column, message }) => (
        <li key={`${line}:${column} ${message}`}>
          <button type="button" class="link" onClick={() => onLine(line)}>
            line {line}
          </button>{' '}
          {visible(message)}
        </li>
      ))}
    </ul>
  );
}

interface DecidedProperties extends Pick<Properties, 'onLine'> {
  readonly outcome: Extract<TryPolicyAnswer, { kind: 'decided' }>;
}

function Decided({ outcome, onLine }: DecidedProperties) {
  const { rule, reason, at, microseconds, message, rules, request, redacted } = outcome;
  const facts = [rule && `rule ${rule}`, reason, at, `decided in ${formatMicroseconds(microseconds)}`];
  return (
    <>
      <p class="note">{visibleLine(facts.filter(Boolean).join(' · '))}</p>
      {message !== undefined && <blockquote>{visible(message)}</blockquote>}
      <Rules rules={rules} isWhole onLine={onLine} />
      <BodyColumn title="The request" body={request} />
      {redacted !== undefined && <BodyColumn title="As it would leave" body={redacted} />}
    </>
  );
}
