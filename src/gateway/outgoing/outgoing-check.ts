import type { KeyRecord } from '../../config/build/keys.ts';
import type { StaticHeader } from '../../config/build/parameters.ts';
import type { HttpRequest } from '../../http/request.ts';
import { memoize } from '../../lib/memoize.ts';
import {
  type Pass,
  refuses,
  replaces,
  type Subject,
  strictest,
  toRefusal,
  type Verdict,
} from '../../policy/rule.ts';
import type { ClientCredential } from '../../providers/client-credential.ts';
import {
  type ForwardableHeader,
  type ForwardOptions,
  forwardableHeaders,
  requestHeaders,
} from '../../providers/headers.ts';
import { hasLogin, LoginRefusal } from '../authenticate.ts';
import { blocked } from '../decision/decide.ts';
import { type BodyDecision, type DecidedRequest, toSubject } from '../decision/decide-request.ts';
import type { Scrubber } from '../scrub.ts';
import type { OutgoingFinding } from '../subscriber.ts';

type ClientHead = Pick<HttpRequest, 'rawHeaders'> & {
  /** The client's query, without its question mark. */
  readonly query: string;
};

type HeadOptions = ForwardOptions & {
  readonly own: readonly string[];
  /** Those that the model list writes. */
  readonly added: readonly StaticHeader[];
};

/**
 * Checks all of what leaves for one target: the headers and the query, the body if it was built, and that the client's own
 * credential is in its one place. Each check throws the refusal; what was found until then is in `findings`.
 */
export class OutgoingCheck {
  readonly findings: OutgoingFinding[] = [];
  readonly #decided: DecidedRequest;
  readonly #scrubber: Scrubber;

  constructor(decided: DecidedRequest, scrubber: Scrubber) {
    this.#decided = decided;
    this.#scrubber = scrubber;
  }

  /** The client's own credential, for the provider that takes it. */
  get credential(): ClientCredential | undefined {
    return this.#decided.login?.credential;
  }

  /** The part of the client's head that may leave for a provider. */
  head(head: ClientHead, options: HeadOptions, provider: string): EvaluatedHead {
    const { key, meta, request, endpoint } = this.#decided;
    const subjectOf = () => toSubject({ ...meta, providers: [provider] }, request.document, endpoint.dialect);
    const evaluated = evaluateHead(head, { policies: key.policies, subjectOf }, options, (name) =>
      this.#scrubber.inName(name),
    );
    const { verdicts } = evaluated;
    if (verdicts.length === 0) return evaluated;
    const enforced = verdicts.filter(({ mode }) => mode === 'enforce');
    const action = strictest(enforced.map((each) => each.action));
    this.findings.push({ action, verdicts, unseen: 0, microseconds: 0 });
    const blocking = enforced.find((each) => refuses(each.action));
    if (blocking === undefined) return evaluated;
    const { failure } = blocking;
    throw blocked({
      refusal: toRefusal(blocking),
      verdicts: [blocking],
      ...(failure === undefined ? {} : { failure }),
    });
  }

  /** The decision on a body that the gateway built. */
  body<Passed extends { readonly kind: 'passed'; readonly decision: Pass; readonly microseconds: number }>(
    built: Extract<BodyDecision, { kind: 'blocked' }> | Passed,
  ): Passed {
    const { action, verdicts, unseen } = built.decision;
    this.findings.push({ action, verdicts, unseen, microseconds: built.microseconds });
    if (built.kind === 'blocked') throw blocked(built.decision);
    return built;
  }

  /** That nothing in the path, the headers or a body of the gateway's repeats the client's own credential. */
  login(head: readonly string[], body: Buffer | undefined): void {
    const { login } = this.#decided;
    if (login === undefined) return;
    const texts = Buffer.from(head.join('\n'));
    if (hasLogin(login, body === undefined ? [texts] : [texts, body])) throw new LoginRefusal();
  }
}

/** The part of the client's request head that goes to a provider. */
export interface EvaluatedHead {
  /** A flat list of names and values. */
  readonly headers: string[];
  /** With its question mark; empty if there is none. */
  readonly query: string;
  /** Headers that were left out because of their values. */
  readonly dropped: readonly string[];
  /** Names of the headers that the model list has written. */
  readonly added: readonly string[];
  /** What the text rules found; if one of them blocks, nothing may leave. */
  readonly verdicts: readonly Verdict[];
}

/**
 * Evaluates the key's text rules on the client's headers and query. A header that a rule would redact or mask is left out:
 * part of its value would mean something else, or nothing.
 */
export function evaluateHead(
  { rawHeaders, query }: ClientHead,
  { policies, subjectOf }: Pick<KeyRecord, 'policies'> & { subjectOf(): Subject },
  { dialect, extraNames, own, added }: HeadOptions,
  keyIn: (name: string) => string | undefined,
): EvaluatedHead {
  const verdicts: Verdict[] = [];
  const mayLeave = (kind: 'header' | 'query', name: string, text: string): boolean => {
    // Nearly all values recur, and this runs for every header of every request.
    if (policies.isKnownClean(text)) return true;
    const at = `${kind}:${name}`;
    const found = policies.evaluateValue({ at, text }, subjectOf());
    if (found.length === 0) return true;
    const isNoted = ({ policy, rule }: Verdict) =>
      verdicts.some((each) => each.policy === policy && each.rule === rule && each.matches[0]?.at === at);
    verdicts.push(...found.filter((verdict) => !isNoted(verdict)));
    return !found.some(({ action, mode }) => mode === 'enforce' && replaces(action));
  };
  // A name that clients choose is judged as it was spelled, as it leaves, and by the key that is in it in any case.
  const isNameClean = ({ name, spelling, label }: ForwardableHeader): boolean =>
    name === label ||
    [spelling, name, keyIn(name) ?? ''].every((text) => text === '' || mayLeave('header', label, text));
  // The content type was checked before the body was read.
  const isClean = (header: ForwardableHeader): boolean =>
    header.name === 'content-type' || (isNameClean(header) && mayLeave('header', header.label, header.value));
  const forwardable = forwardableHeaders(rawHeaders, { dialect, extraNames });
  const dropped = forwardable.unfit.map((label) => `header:${label}`);
  const client: string[] = [];
  for (const header of forwardable.headers) {
    if (added.some(({ name }) => name === header.name)) continue;
    if (isClean(header)) client.push(header.name, header.value);
    else dropped.push(`header:${header.label}`);
  }
  // A secret is for its provider, as a key is; what stands in the file is a text like any other.
  const written = added.filter(
    ({ name, value, secrets }) => secrets.length > 0 || mayLeave('header', name, value),
  );
  for (const header of added) if (!written.includes(header)) dropped.push(`header:${header.name}`);
  const texts = [...client, ...written.flatMap(({ name, value }) => [name, value])];
  const headers = requestHeaders(texts, { own, dialect });
  const beta = betaOf(query);
  const isForwarded = beta !== '' && mayLeave('query', 'beta', beta);
  return {
    headers,
    dropped,
    verdicts,
    query: isForwarded ? `?beta=${beta}` : '',
    added: written.map(({ name }) => name),
  };
}

const flag = /^[A-Za-z0-9._-]{1,32}$/;

/**
 * Of the client's query only the flag `beta` is forwarded: coding agents send `beta=true`, and nothing else is known to
 * matter. Empty if it is missing or not a plain flag.
 */
export const betaOf = memoize((query) => {
  const beta = new URLSearchParams(query).get('beta') ?? '';
  return flag.test(beta) ? beta : '';
});
