import type { TryPolicyAnswer } from '../../contract/actions.ts';
import { BodyColumn } from '../exchange/request-tab.tsx';
import { Rules } from '../exchange/rules.tsx';
import { formatMicroseconds } from '../format.ts';
import { visible, visibleLine } from '../text/visible.ts';

interface Properties {
  readonly outcome: TryPolicyAnswer | { readonly kind: 'failed'; readonly message: string } | undefined;
  onLine(line: number): void;
}

const words = {
  allow: 'It would be allowed',
  warn: 'It would be allowed, with a warning',
  redact: 'It would be sent with redactions',
  block: 'It would be blocked',
} as const;

export function Outcome({ outcome, onLine }: Properties) {
  if (outcome === undefined) return <p class="note">Deciding …</p>;
  switch (outcome.kind) {
    case 'failed':
      return <p class="problem">{visible(outcome.message)}</p>;
    case 'invalid':
      return (
        <>
          <h2 class="verdict-line block">The rules can't be read</h2>
          <ul class="problems">
            {outcome.problems.map(({ line, column, message }) => (
              <li key={`${line}:${column} ${message}`}>
                <button type="button" class="link" onClick={() => onLine(line)}>
                  line {line}
                </button>{' '}
                {visible(message)}
              </li>
            ))}
          </ul>
        </>
      );
    case 'decided':
      return (
        <>
          <h2 class={`verdict-line ${outcome.decision}`}>{words[outcome.decision]}</h2>
          <p class="note">
            {visibleLine(
              [outcome.rule && `rule ${outcome.rule}`, outcome.reason, outcome.at]
                .filter(Boolean)
                .join(' · '),
            )}
            {` decided in ${formatMicroseconds(outcome.microseconds)}`}
          </p>
          {outcome.message !== undefined && <blockquote>{visible(outcome.message)}</blockquote>}
          <Rules rules={outcome.rules} isWhole onLine={onLine} />
          <BodyColumn title="The request" body={outcome.request} />
          {outcome.redacted !== undefined && <BodyColumn title="As it would leave" body={outcome.redacted} />}
        </>
      );
  }
}
