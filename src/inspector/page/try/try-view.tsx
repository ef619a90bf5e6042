import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type { PoliciesAnswer } from '../../contract/actions.ts';
import type { Live } from '../live.ts';
import { Choice, Problem } from '../shell/controls.tsx';
import { visible } from '../text/visible.ts';
import { Outcome } from './outcome.tsx';
import { type Scratch, useOutcome, useScratch } from './scratch.ts';

interface Properties {
  readonly live: Live;
  /** The exchange whose request is tried first. */
  readonly id: string | undefined;
  /** What was tried last. */
  readonly kept: { current: Scratch | undefined };
}

/** A scratch copy of the rules and a request: what would be decided. Nothing is saved, nothing is sent. */
export function TryView({ live, id, kept }: Properties) {
  const { scratch, change, policies, problem } = useScratch(live, id, kept);
  const outcome = useOutcome(live, scratch);
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
          problems={outcome?.kind === 'invalid' ? outcome.problems.map(({ line }) => line) : []}
        />
        <header>
          <h2>Request</h2>
          {policies.state === 'done' && (
            <RequestChoices policies={policies.answer} scratch={scratch} onChange={change} />
          )}
        </header>
        <Problem>{problem && visible(problem)}</Problem>
        <Editor
          label="Request body, JSON"
          value={scratch.body ?? ''}
          onInput={(body) => change({ body })}
          problems={[]}
        />
      </section>
      <section class="try-outcome" aria-label="What would be decided">
        <Outcome
          outcome={outcome}
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

interface ChoicesProperties {
  readonly policies: PoliciesAnswer;
  readonly scratch: Scratch;
  onChange(part: Partial<Scratch>): void;
}

/** Whose request it is, and of which endpoint. */
function RequestChoices({ policies, scratch: { key, endpoint }, onChange }: ChoicesProperties) {
  const isRemoved = key !== '' && !policies.keys.some(({ id }) => id === key);
  const keys = policies.keys.map(({ id, project }) => [id, `${id} (${project})`] as const);
  return (
    <>
      <Choice
        label="Key"
        none="first key"
        value={key}
        options={isRemoved ? [[key, `${key} (removed)`], ...keys] : keys}
        onChange={(id) => onChange({ key: id })}
      />
      <Choice
        label="Endpoint"
        none="endpoint from the body"
        value={endpoint}
        options={policies.endpoints.map((name) => [name, name])}
        onChange={(name) => onChange({ endpoint: name })}
      />
    </>
  );
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
