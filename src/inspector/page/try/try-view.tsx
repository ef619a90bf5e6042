import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type { TryPolicyResponse } from '../../contract/actions.ts';
import { BodyColumn } from '../exchange/body-tabs.tsx';
import { Rules } from '../exchange/rules.tsx';
import { formatMicroseconds } from '../format.ts';
import type { Live } from '../live.ts';
import { Choice, ProblemNote } from '../shell/controls.tsx';
import { visible, visibleLine } from '../text/visible.ts';
import { type Scratch, type TryResult, useScratch, useTryResult } from './scratch.ts';

interface Properties {
  readonly live: Live;
  /** The exchange whose request is tried first. */
  readonly id: string | undefined;
  /** What was tried last. */
  readonly kept: { current: Scratch | undefined };
}

/** A scratch copy of the rules and a request: what would be decided. Nothing is saved, nothing is sent. */
export function TryView({ live, id, kept }: Properties) {
  const { scratch, change, policies } = useScratch(live, id, kept);
  const result = useTryResult(live, scratch);
  const editor = useRef<HTMLTextAreaElement>(null);
  const inForce = policies.state === 'done' ? policies.answer.text : undefined;
  return (
    <main class="try-view">
      <section class="try-inputs" aria-label="What is tried">
        <header>
          <h2>Rules</h2>
          <span class="note">a scratch copy: nothing is saved</span>
          {inForce !== undefined && scratch.rules !== inForce && (
            <button type="button" class="quiet" onClick={() => change({ rules: inForce })}>
              Back to the rules in force
            </button>
          )}
        </header>
        {policies.state === 'failed' && <p class="problem">{policies.message}</p>}
        <Editor
          label="Rules, as under policies:"
          value={scratch.rules ?? ''}
          onInput={(rules) => change({ rules })}
          area={editor}
          problems={result?.kind === 'invalid' ? result.problems.map(({ line }) => line) : []}
        />
        <header>
          <h2>Request</h2>
          {policies.state === 'done' && (
            <>
              <Choice
                label="Key"
                none="first key"
                value={scratch.key}
                options={policies.answer.keys.map(({ id, project }) => [id, `${id} (${project})`])}
                onChange={(key) => change({ key })}
              />
              <Choice
                label="Endpoint"
                none="endpoint from the body"
                value={scratch.endpoint}
                options={policies.answer.endpoints.map((name) => [name, name])}
                onChange={(endpoint) => change({ endpoint })}
              />
            </>
          )}
        </header>
        <ProblemNote>{scratch.problem && visible(scratch.problem)}</ProblemNote>
        <Editor
          label="Request body, JSON"
          value={scratch.body ?? ''}
          onInput={(body) => change({ body })}
          problems={[]}
        />
      </section>
      <section class="try-outcome" aria-label="What would be decided">
        <TrialResult
          result={result}
          onLine={(line) => editor.current !== null && selectLine(editor.current, line)}
        />
      </section>
    </main>
  );
}

/** Lines are counted from 1. */
function selectLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((length, each) => length + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.parentElement?.querySelectorAll('.numbers span')[line - 1]?.scrollIntoView({ block: 'nearest' });
}

interface EditorProperties {
  readonly label: string;
  readonly value: string;
  onInput(value: string): void;
  readonly area?: RefObject<HTMLTextAreaElement | null>;
  /** Lines with a problem, from 1. */
  readonly problems: readonly number[];
}

/** Longer texts have no line numbers: each keystroke would lay all of them out. */
const numberedLength = 200_000;

/**
 * A text area with line numbers, in which long lines wrap: behind it lies the same text, invisible, whose lines have the
 * numbers, and which makes the area as high as its text.
 */
function Editor({ label, value, onInput, area, problems }: EditorProperties) {
  return (
    <div class="editor">
      <div class="sheet">
        {value.length <= numberedLength && (
          <pre class="numbers" aria-hidden="true">
            {value.split('\n').map((line, index) => (
              <span key={index} class={problems.includes(index + 1) ? 'problem' : ''}>{`${line}\n`}</span>
            ))}
          </pre>
        )}
        <textarea
          {...(area && { ref: area })}
          aria-label={label}
          value={value}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

const words = {
  allow: 'It would be allowed',
  warn: 'It would be allowed, with a warning',
  mask: 'It would be sent with placeholders',
  redact: 'It would be sent with redactions',
  block: 'It would be blocked',
} as const;

interface ResultProperties {
  readonly result: TryResult | undefined;
  onLine(line: number): void;
}

/** The verdict, which screen readers announce whenever it changes, and below it how it came about. */
function TrialResult({ result, onLine }: ResultProperties) {
  return (
    <>
      <div role="status">
        {result === undefined && <p class="note">Deciding …</p>}
        {result?.kind === 'failed' && <p class="problem">{visible(result.message)}</p>}
        {result?.kind === 'invalid' && <h2 class="verdict-line block">The rules can't be read</h2>}
        {result?.kind === 'decided' && (
          <h2 class={`verdict-line ${result.decision}`}>{words[result.decision]}</h2>
        )}
      </div>
      {result?.kind === 'invalid' && (
        <ul class="problems">
          {result.problems.map(({ line, column, message }) => (
            <li key={`${line}:${column} ${message}`}>
              <button type="button" class="link" onClick={() => onLine(line)}>
                line {line}
              </button>{' '}
              {visible(message)}
            </li>
          ))}
        </ul>
      )}
      {result?.kind === 'decided' && <Decided result={result} onLine={onLine} />}
    </>
  );
}

interface DecidedProperties extends ResultProperties {
  readonly result: Extract<TryPolicyResponse, { kind: 'decided' }>;
}

function Decided({ result, onLine }: DecidedProperties) {
  const { rule, reason, at, microseconds, message, rules, examples, request, redacted } = result;
  const lines = [rule && `rule ${rule}`, reason, at, `decided in ${formatMicroseconds(microseconds)}`];
  return (
    <>
      <p class="note">{visibleLine(lines.filter(Boolean).join(' · '))}</p>
      {message !== undefined && <blockquote>{visible(message)}</blockquote>}
      <Rules rules={rules} hasAllRules examples={examples} onLine={onLine} />
      <BodyColumn title="The request" body={request} />
      {redacted !== undefined && <BodyColumn title="As it would leave" body={redacted} />}
    </>
  );
}
