import type { StaticHeader } from '../../config/build/parameters.ts';
import type { HttpRequest } from '../../http/request.ts';
import { memoize } from '../../lib/memoize.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import {
  type Pass,
  refuses,
  replaces,
  type Subject,
  strictest,
  toRefusal,
  type Verdict,
} from '../../policy/rule.ts';
import type { ProviderRequest } from '../../providers/attempt.ts';
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
  /** The provider's name. */
  readonly provider: string;
  readonly own: readonly string[];
  /** Those that the model list writes. */
  readonly added: readonly StaticHeader[];
};

const none: readonly string[] = [];
const noVerdicts: readonly Verdict[] = [];
const noFindings: readonly OutgoingFinding[] = [];

/**
 * Checks all of what leaves for one target: the headers and the query, the body if it was built, and that the client's own
 * credential is in its one place. Each check throws the refusal; what was found until then is in `findings`.
 */
export class OutgoingCheck implements HeadJudge {
  findings: readonly OutgoingFinding[] = noFindings;
  readonly scrubber: Scrubber;
  readonly #decided: DecidedRequest;

  constructor(decided: DecidedRequest, scrubber: Scrubber) {
    this.#decided = decided;
    this.scrubber = scrubber;
  }

  /** The client's own credential, for the provider that takes it. */
  get credential(): ClientCredential | undefined {
    return this.#decided.login?.credential;
  }

  /** The part of the client's head that may leave for a provider. */
  head(head: ClientHead, options: HeadOptions): EvaluatedHead {
    const evaluated = evaluateHead(head, this, options);
    const { verdicts } = evaluated;
    if (verdicts.length === 0) return evaluated;
    const enforced = verdicts.filter(({ mode }) => mode === 'enforce');
    const action = strictest(enforced.map((each) => each.action));
    this.findings = [...this.findings, { action, verdicts, unseen: 0, microseconds: 0 }];
    const blocking = enforced.find((each) => refuses(each.action));
    if (blocking === undefined) return evaluated;
    const { failure } = blocking;
    throw blocked({
      refusal: toRefusal(blocking),
      verdicts: [blocking],
      ...(failure === undefined ? {} : { failure }),
    });
  }

  get policies(): PolicySet {
    return this.#decided.key.policies;
  }

  subjectOf(provider: string): Subject {
    const { meta, request, endpoint } = this.#decided;
    return toSubject({ ...meta, providers: [provider] }, request.document, endpoint.dialect);
  }

  /** The decision on a body that the gateway built. */
  body<Passed extends { readonly kind: 'passed'; readonly decision: Pass; readonly microseconds: number }>(
    built: Extract<BodyDecision, { kind: 'blocked' }> | Passed,
  ): Passed {
    const { action, verdicts, unseen } = built.decision;
    this.findings = [...this.findings, { action, verdicts, unseen, microseconds: built.microseconds }];
    if (built.kind === 'blocked') throw blocked(built.decision);
    return built;
  }

  /** That nothing in the path, the headers or a body of the gateway's repeats the client's own credential. */
  login({ path, headers }: Pick<ProviderRequest, 'path' | 'headers'>, body: Buffer | undefined): void {
    const { login } = this.#decided;
    if (login === undefined) return;
    const texts = Buffer.from([path, ...headers].join('\n'));
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

/** Whose rules apply to a head, and what it must not have. */
interface HeadJudge {
  readonly policies: PolicySet;
  readonly scrubber: Pick<Scrubber, 'inName'>;
  /** The request, as a provider of this name gets it. */
  subjectOf(provider: string): Subject;
}

/** What text rules say of what leaves beside the body. */
class HeadTexts {
  /** What they found so far. */
  verdicts = noVerdicts;
  readonly #judge: HeadJudge;
  readonly #provider: string;

  constructor(judge: HeadJudge, provider: string) {
    this.#judge = judge;
    this.#provider = provider;
  }

  /** The content type was checked before the body was read. */
  isClean(header: ForwardableHeader): boolean {
    const { name, label, value } = header;
    return name === 'content-type' || (this.#isNameClean(header) && this.mayLeave(`header:${label}`, value));
  }

  mayLeave(at: string, text: string): boolean {
    // Nearly all values recur, and this runs for every header of every request.
    const { policies } = this.#judge;
    if (policies.isKnownClean(text)) return true;
    const found = policies.evaluateValue({ at, text }, this.#judge.subjectOf(this.#provider));
    if (found.length === 0) return true;
    const isNoted = ({ policy, rule }: Verdict) =>
      this.verdicts.some(
        (each) => each.policy === policy && each.rule === rule && each.matches[0]?.at === at,
      );
    this.verdicts = [...this.verdicts, ...found.filter((verdict) => !isNoted(verdict))];
    return !found.some(({ action, mode }) => mode === 'enforce' && replaces(action));
  }

  /** A name that clients choose is judged as it was spelled, as it leaves, and by the key that is in it in any case. */
  #isNameClean({ name, spelling, label }: ForwardableHeader): boolean {
    if (name === label) return true;
    return [spelling, name, this.#judge.scrubber.inName(name) ?? ''].every(
      (text) => text === '' || this.mayLeave(`header:${label}`, text),
    );
  }
}

/**
 * Evaluates the key's text rules on the client's headers and query. A header that a rule would redact or mask is left out:
 * part of its value would mean something else, or nothing.
 */
export function evaluateHead(
  { rawHeaders, query }: ClientHead,
  judge: HeadJudge,
  { dialect, extraNames, own, added, provider }: HeadOptions,
): EvaluatedHead {
  const texts = new HeadTexts(judge, provider);
  const { headers: forwardable, unfit } = forwardableHeaders(rawHeaders, { dialect, extraNames });
  let dropped = unfit.length === 0 ? none : unfit.map((label) => `header:${label}`);
  const client: string[] = [];
  for (const header of forwardable) {
    if (added.length > 0 && added.some(({ name }) => name === header.name)) continue;
    if (texts.isClean(header)) client.push(header.name, header.value);
    else dropped = [...dropped, `header:${header.label}`];
  }
  let written = none;
  for (const { name, value, secrets } of added) {
    // A secret is for its provider, as a key is; what stands in the file is a text like any other.
    if (secrets.length === 0 && !texts.mayLeave(`header:${name}`, value)) {
      dropped = [...dropped, `header:${name}`];
      continue;
    }
    client.push(name, value);
    written = [...written, name];
  }
  const beta = betaOf(query);
  const isForwarded = beta !== '' && texts.mayLeave('query:beta', beta);
  return {
    headers: requestHeaders(client, { own, dialect }),
    dropped,
    verdicts: texts.verdicts,
    query: isForwarded ? `?beta=${beta}` : '',
    added: written,
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
