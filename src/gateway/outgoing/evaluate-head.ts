import { memoize } from '../../memoize.ts';
import { replaces, type Subject, type Verdict } from '../../policy/rule.ts';
import { type ForwardOptions, forwardableHeaders, requestHeaders } from '../../providers/headers.ts';
import type { GatewayKey } from '../authenticate.ts';

/** The part of the client's request head that goes to a provider. */
export interface EvaluatedHead {
  /** A flat list of names and values. */
  readonly headers: string[];
  /** With its question mark; empty if there is none. */
  readonly query: string;
  /** Headers that were left out because of their values. */
  readonly dropped: readonly string[];
  /** What the text rules found; if one of them blocks, nothing may leave. */
  readonly verdicts: readonly Verdict[];
}

interface ClientHead {
  readonly rawHeaders: readonly string[];
  /** Without its question mark. */
  readonly query: string;
}

interface Applied {
  readonly policies: GatewayKey['policies'];
  readonly subject: Subject;
}

/**
 * Evaluates the key's text rules on the client's headers and query. A header that a rule would redact or mask is left out:
 * part of its value would mean something else, or nothing.
 */
export function evaluateHead(
  { rawHeaders, query }: ClientHead,
  { policies, subject }: Applied,
  { dialect, extraNames, own }: ForwardOptions & { readonly own: readonly string[] },
): EvaluatedHead {
  const verdicts: Verdict[] = [];
  const mayLeave = (kind: 'header' | 'query', name: string, text: string): boolean => {
    // Nearly all values recur, and this runs for every header of every request.
    if (policies.isKnownClean(text)) return true;
    const at = `${kind}:${name}`;
    const found = policies.evaluateValue({ at, text }, subject);
    if (found.length === 0) return true;
    verdicts.push(...found);
    return !found.some(({ action, mode }) => mode === 'enforce' && replaces(action));
  };
  // The content type was checked before the body was read.
  const isClean = (name: string, value: string, label: string): boolean =>
    name === 'content-type' ||
    ((name === label || mayLeave('header', label, name)) && mayLeave('header', label, value));
  const forwardable = forwardableHeaders(rawHeaders, { dialect, extraNames });
  const dropped = forwardable.unfit.map((label) => `header:${label}`);
  const client: string[] = [];
  for (const { name, value, label } of forwardable.headers) {
    if (isClean(name, value, label)) client.push(name, value);
    else dropped.push(`header:${label}`);
  }
  const headers = requestHeaders(client, { own, dialect });
  const beta = betaOf(query);
  const isForwarded = beta !== undefined && mayLeave('query', 'beta', beta);
  return { headers, query: isForwarded ? `?beta=${beta}` : '', dropped, verdicts };
}

const flag = /^[A-Za-z0-9._-]{1,32}$/;

/**
 * Of the client's query only the flag `beta` is forwarded: coding agents send `beta=true`, and nothing else is known to
 * matter. Undefined if it is missing, empty or not a plain flag.
 */
export function betaOf(query: string): string | undefined {
  const beta = query === '' ? '' : readBeta(query);
  return beta === '' ? undefined : beta;
}

const readBeta = memoize((query) => {
  const beta = new URLSearchParams(query).get('beta') ?? '';
  return flag.test(beta) ? beta : '';
});
