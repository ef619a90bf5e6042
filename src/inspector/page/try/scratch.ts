import { useEffect, useState } from 'preact/hooks';
import type { PoliciesResponse, TryPolicyRequest, TryPolicyResponse } from '../../contract/actions.ts';
import type { ExchangeDetail } from '../../contract/exchange-detail.ts';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import type { Live } from '../live.ts';
import { CallError, messageOfCall } from '../session.ts';
import { toIndented } from '../text/json-lines.ts';
import { useLoad, useReconnect } from '../use-call.ts';

/** What is tried; it stays while other views are shown. */
export interface Scratch {
  /** The exchange whose request it began with. */
  readonly id: string | undefined;
  /** Missing until the rules in force are here. */
  readonly rules?: string | undefined;
  /** Missing until the exchange's request is here. */
  readonly body?: string | undefined;
  /** Empty: the first key. */
  readonly key: string;
  /** An endpoint's name, or its path with a model in it. Empty: what the body looks like. */
  readonly endpoint: string;
  /** Why the request is not the one of the exchange. */
  readonly problem?: string | undefined;
}

const exampleRequest = `{
  "model": "claude-sonnet-4-5",
  "max_tokens": 200,
  "messages": [
    { "role": "user", "content": "Write to jo@example.org for me." }
  ]
}`;

/** A scratch copy of the rules in force, and the request of the exchange or an example. */
export function useScratch(live: Live, id: string | undefined, kept: { current: Scratch | undefined }) {
  const [scratch, setScratch] = useState(() => begin(kept.current, id));
  kept.current = scratch;
  const change = (part: Partial<Scratch>) => setScratch((current) => ({ ...current, ...part }));

  const policies = useLoad(live, 'policies', () => live.session.get<PoliciesResponse>('policies'));
  const inForce = policies.state === 'done' ? policies.answer.text : undefined;
  useEffect(() => {
    if (inForce !== undefined) setScratch((current) => ({ ...current, rules: current.rules ?? inForce }));
  }, [inForce]);
  useEffect(() => {
    if (scratch.id === undefined || scratch.body !== undefined) return;
    void requestOf(live, scratch.id).then(change);
  }, []);
  return { scratch, change, policies };
}

/** What is kept, with another request if it is opened from an exchange. */
function begin(kept: Scratch | undefined, id: string | undefined): Scratch {
  if (kept !== undefined && (id === undefined || id === kept.id)) return kept;
  return {
    id,
    rules: kept?.rules,
    body: id === undefined ? exampleRequest : undefined,
    key: '',
    endpoint: '',
  };
}

async function requestOf(live: Live, id: string): Promise<Partial<Scratch>> {
  try {
    const { row, bodies } = await live.session.get<ExchangeDetail>(`exchanges/${encodeURIComponent(id)}`);
    const { key = '' } = row;
    const endpoint = placeOf(row);
    const received = bodies?.received;
    if (received === undefined) {
      const problem = "The exchange's body is not kept: this is an example.";
      return { body: exampleRequest, key, endpoint, problem };
    }
    const problem = received.truncated ? "Only the beginning of the exchange's body is here." : undefined;
    return { body: toIndented(received.text), key, endpoint, problem };
  } catch (error) {
    return { body: exampleRequest, problem: `This is an example. ${messageOfCall(error)}` };
  }
}

/** A body whose model is in the path doesn't name it. */
function placeOf({ path, endpoint = '', model }: ExchangeRow): string {
  return path.includes('{model}') && model !== undefined ? path.replace('{model}', () => model) : endpoint;
}

export type TryResult = TryPolicyResponse | { readonly kind: 'failed'; readonly message: string };

// Milliseconds after the last keystroke: long enough to finish a word. The first decision doesn't wait.
const waitMs = 400;
// Other pages may be using the threads in which rules are tried.
const busyMs = 1_000;

/**
 * What would be decided; asked for again a moment after every change, and after a failure when the gateway is there
 * again.
 */
export function useTryResult(live: Live, { rules, body, key, endpoint }: Scratch): TryResult | undefined {
  const [result, setResult] = useState<TryResult>();
  const [attempt, setAttempt] = useState(0);
  useReconnect(live, () => result?.kind === 'failed' && setAttempt(attempt + 1));
  useEffect(() => {
    if (rules === undefined || body === undefined) return undefined;
    const request: TryPolicyRequest = {
      policies: rules,
      body,
      key: key || undefined,
      endpoint: endpoint || undefined,
    };
    let isCurrent = true;
    const decide = async () => {
      const answer = await tryPolicy(live, request);
      if (!isCurrent) return;
      if (answer === 'busy') timer = setTimeout(() => void decide(), busyMs);
      else setResult(answer);
    };
    let timer = setTimeout(() => void decide(), result === undefined ? 0 : waitMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [rules, body, key, endpoint, attempt]);
  return result;
}

async function tryPolicy(live: Live, request: TryPolicyRequest): Promise<TryResult | 'busy'> {
  try {
    return await live.session.post<TryPolicyResponse>('try-policy', request);
  } catch (error) {
    if (error instanceof CallError && error.reason === 'inspector.busy') return 'busy';
    return { kind: 'failed', message: messageOfCall(error) };
  }
}
