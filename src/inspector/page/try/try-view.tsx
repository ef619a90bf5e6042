import { useRef } from 'preact/hooks';
import type { Live } from '../live.ts';
import { visible } from '../text/visible.ts';
import { Editor } from './editor.tsx';
import { Outcome } from './outcome.tsx';
import { RequestChoices } from './request-choices.tsx';
import { useOutcome } from './use-outcome.ts';
import { type Scratch, useScratch } from './use-scratch.ts';

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
        {problem !== undefined && (
          <p class="problem" role="alert">
            {visible(problem)}
          </p>
        )}
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
