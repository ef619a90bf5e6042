import { useEffect, useRef, useState } from 'preact/hooks';
import type { PoliciesAnswer, TryPolicyAnswer, TryPolicyRequest } from '../../contract/actions.ts';
import type { ExchangeDetail } from '../../contract/exchange-detail.ts';
import type { Live } from '../live.ts';
import { CallError, messageOf } from '../session.ts';
import { toIndented } from '../text/json-lines.ts';
import { visibleLine } from '../text/visible.ts';
import { useCall } from '../use-call.ts';
import { Editor } from './editor.tsx';
import { Outcome } from './outcome.tsx';

interface Properties {
  readonly live: Live;
  /** The exchange whose request is tried first. */
  readonly id: string | undefined;
}

const exampleRequest = `{
  "model": "claude-sonnet-4-5",
  "max_tokens": 200,
  "messages": [
    { "role": "user", "content": "Write to jo@example.org for me." }
  ]
}`;

// Milliseconds after the last keystroke: long enough to finish a word.
const waitMs = 400;
// Other pages may be using the threads in which rules are tried.
const busyMs = 1_000;

/** A scratch copy of the rules and a request: what would be decided. Nothing is saved, nothing is sent. */
export function TryView({ live, id }: Properties) {
  const policies = useCall('policies', () => live.session.get<PoliciesAnswer>('policies'));
  const [rules, setRules] = useState<string>();
  const [body, setBody] = useState(id === undefined ? exampleRequest : undefined);
  const [key, setKey] = useState('');
  const [endpoint, setEndpoint] = useState('');
  const [outcome, setOutcome] = useState<
    TryPolicyAnswer | { readonly kind: 'failed'; readonly message: string }
  >();
  const editor = useRef<HTMLTextAreaElement>(null);

  const original = policies.state === 'done' ? policies.answer.text : undefined;
  useEffect(() => {
    if (original !== undefined) setRules((current) => current ?? original);
  }, [original]);
  useEffect(() => {
    if (id === undefined) return;
    void live.session
      .get<ExchangeDetail>(`exchanges/${encodeURIComponent(id)}`)
      .then(({ row, bodies }) => {
        setBody(bodies?.received === undefined ? exampleRequest : toIndented(bodies.received.text));
        if (row.key !== undefined) setKey(row.key);
        if (row.endpoint !== undefined) setEndpoint(row.endpoint);
      })
      .catch((error) => {
        setBody((current) => current ?? exampleRequest);
        setOutcome({ kind: 'failed', message: messageOf(error) });
      });
  }, [id]);
  useEffect(() => {
    if (rules === undefined || body === undefined) return undefined;
    let isCurrent = true;
    const decide = async () => {
      const request: TryPolicyRequest = {
        policies: rules,
        body,
        ...(key !== '' && { key }),
        ...(endpoint !== '' && { endpoint }),
      };
      try {
        const answer = await live.session.post<TryPolicyAnswer>('try-policy', request);
        if (isCurrent) setOutcome(answer);
      } catch (error) {
        if (!isCurrent) return;
        const isBusy = error instanceof CallError && error.reason === 'inspector.busy';
        if (isBusy) timer = setTimeout(() => void decide(), busyMs);
        else setOutcome({ kind: 'failed', message: messageOf(error) });
      }
    };
    let timer = setTimeout(() => void decide(), waitMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [rules, body, key, endpoint]);

  const goToLine = (line: number) => {
    const area = editor.current;
    if (area === null || rules === undefined) return;
    const before = rules
      .split('\n')
      .slice(0, line - 1)
      .join('\n');
    const start = line === 1 ? 0 : before.length + 1;
    area.focus();
    area.setSelectionRange(start, start + (rules.slice(start).split('\n')[0]?.length ?? 0));
  };
  const problemLines = outcome?.kind === 'invalid' ? outcome.problems.map(({ line }) => line) : [];
  return (
    <main class="try-view">
      <section class="try-inputs">
        <header>
          <h2>Rules</h2>
          <span class="note">a scratch copy: nothing is saved</span>
          {rules !== original && (
            <button type="button" class="quiet" onClick={() => setRules(original)}>
              Back to the rules in force
            </button>
          )}
        </header>
        {policies.state === 'failed' && <p class="problem">{policies.message}</p>}
        <Editor
          label="Rules, as under policies:"
          value={rules ?? ''}
          onInput={setRules}
          area={editor}
          problems={problemLines}
        />
        <header>
          <h2>Request</h2>
          {policies.state === 'done' && (
            <>
              <select aria-label="Key" value={key} onChange={(event) => setKey(event.currentTarget.value)}>
                <option value="">first key</option>
                {policies.answer.keys.map((one) => (
                  <option key={one.id} value={one.id}>
                    {visibleLine(`${one.id} (${one.project})`)}
                  </option>
                ))}
              </select>
              <select
                aria-label="Endpoint"
                value={endpoint}
                onChange={(event) => setEndpoint(event.currentTarget.value)}
              >
                <option value="">endpoint from the body</option>
                {policies.answer.endpoints.map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </select>
            </>
          )}
        </header>
        <Editor label="Request body, JSON" value={body ?? ''} onInput={setBody} problems={[]} />
      </section>
      <section class="try-outcome" aria-label="What would be decided" aria-live="polite">
        <Outcome outcome={outcome} onLine={goToLine} />
      </section>
    </main>
  );
}
