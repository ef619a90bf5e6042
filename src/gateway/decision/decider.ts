import { JsonDocument } from '../../json/json-document.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import { type Checkpoint, GivenUp } from '../../policy/checkpoint.ts';
import { type CheckResults, Unchecked } from '../../policy/checks/check-book.ts';
import type { PolicySource } from '../../policy/compile.ts';
import { Conversations } from '../../policy/conversations.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { CheckCalls } from '../checks/check-calls.ts';
import { withChecks } from '../checks/with-checks.ts';
import { parseRequest } from '../request.ts';
import { withBody } from '../sender.ts';
import {
  type BodyDecision,
  type BuiltBody,
  decideBody,
  decideRequest,
  type Incoming,
  type RequestDecision,
  requestMeta,
} from './decide-request.ts';
import { DecisionThreads, type ThreadLimits } from './decision-threads.ts';
import { type AnswerReader, type CheckedBody, readAnswer } from './read-answer.ts';
import { createRoutePlanner, type ModelNames } from './route-plan.ts';
import { fromErrorParts, memoryOf } from './thread-messages.ts';
import {
  type TranslatedRequest,
  toBuffer,
  translateRequest,
  translationOf,
  type UntranslatedRequest,
} from './translate-request.ts';

/** Up to this size reading a body takes less than 20 ms in the worst case (docs/decisions/policy-thread-threshold.md). */
export const threadBytes = 262_144;
/** Smaller bodies are copied for the thread, because others may have a part of the same memory. */
const movedBytes = 1_048_576;

/**
 * Parses bodies strictly, translates them and applies policies to them, and the same for whole answers: what takes little
 * time here, large ones in separate threads, so that they don't hold up other exchanges; and what turns out to take longer
 * is given up here and begun again in a thread. The outcome is the same. A large body's memory is transferred to the thread
 * and back: afterwards, use the body in the result, not the one that was passed in.
 *
 * Each body is read as if it were new, although an agent sends most of a conversation again with every turn
 * (docs/decisions/every-body-is-new.md).
 *
 * The methods throw what strict parsing throws, policy.error if the thread dies, and the lifetime's reason if it ends.
 */
export type Decider = ReturnType<typeof createDecider>;

export interface DeciderOptions {
  readonly source: PolicySource;
  readonly names: ModelNames;
  readonly limits?: ThreadLimits | undefined;
  /** The module that runs in the thread; the product's own by default. */
  readonly entry?: URL | undefined;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/decide-thread.js' : './decide-thread.js';

export function createDecider({
  source,
  names,
  limits,
  entry = new URL(ownEntry, import.meta.url),
}: DeciderOptions) {
  const threads = new DecisionThreads({ source, ...names }, entry, limits);
  const planOf = createRoutePlanner(names);
  const conversations = new Conversations();
  const { peaks } = conversations;
  const calls = new CheckCalls();
  const remember = (decided: RequestDecision): RequestDecision => {
    if (decided.kind === 'passed' && decided.conversation) conversations.note(decided.conversation);
    return decided;
  };
  return {
    async decideRequest(
      policies: PolicySet,
      { body, endpoint, pathModel, key, sender, nowMs }: Incoming,
      lifetime: Lifetime,
    ): Promise<RequestDecision> {
      let whole = body;
      const decided = await checked(policies, { calls, lifetime, key: key.id }, async (results) => {
        const here = decideHere(
          threads,
          whole,
          knowing(policies, results, (checkpoint) => {
            const request = parseRequest(whole, endpoint, pathModel);
            const plan = planOf(request.model);
            const meta = requestMeta(request, {
              endpoint,
              key,
              route: plan.fixed,
              nowMs,
              sender: withBody(sender, request.document, endpoint),
            });
            return decideRequest(policies, request, {
              endpoint,
              meta,
              plan,
              checkpoint,
              peaks,
            });
          }),
        );
        if (here !== undefined) return here;
        const { id, project } = key;
        const known = {
          path: endpoint.path,
          pathModel,
          key: { id, project },
          sender,
          nowMs,
          peaks: peaks.size === 0 ? undefined : peaks,
        };
        const moved = toMove(whole);
        const decided = await threads.ask(
          { kind: 'request', input: { ...known, body: moved, policies: policies.names, results } },
          { key: id, memory: memoryOf(moved), lifetime },
        );
        if (decided.kind === 'unchecked') {
          whole = toBuffer(decided.body);
          return new Unchecked(decided.unasked, decided.results);
        }
        const { request } = decided;
        return { ...decided, request: { ...request, document: JsonDocument.fromParts(request.document) } };
      });
      return remember(decided);
    },
    /** Also throws request.unsupported if it can't be translated. */
    async translateRequest(
      policies: PolicySet,
      untranslated: UntranslatedRequest,
      lifetime: Lifetime,
    ): Promise<TranslatedRequest> {
      const { key } = untranslated.meta;
      return checked(policies, { calls, lifetime, key }, async (results) => {
        const here = decideHere(
          threads,
          untranslated.body,
          knowing(policies, results, (checkpoint) => translateRequest(policies, untranslated, checkpoint)),
        );
        if (here !== undefined) return here;
        // A copy: another target may need the client's own bytes.
        const body = Buffer.from(untranslated.body);
        const decided = await threads.ask(
          { kind: 'translation', input: { ...untranslated, body, policies: policies.names, results } },
          { key, memory: memoryOf(body), lifetime },
        );
        if (decided.kind === 'blocked') return decided;
        if (decided.kind === 'unchecked') return new Unchecked(decided.unasked, decided.results);
        const { translated, ...passed } = decided;
        return {
          ...passed,
          body: toBuffer(passed.body),
          translation: translationOf(untranslated, translated),
        };
      });
    },
    /** Decides on a body in the client's own dialect in which something was changed. */
    async decideBody(policies: PolicySet, built: BuiltBody, lifetime: Lifetime): Promise<BodyDecision> {
      let whole = built.body;
      const { key } = built.meta;
      return checked(policies, { calls, lifetime, key }, async (results) => {
        const here = decideHere(
          threads,
          whole,
          knowing(policies, results, (checkpoint) =>
            decideBody(policies, { ...built, body: whole }, checkpoint),
          ),
        );
        if (here !== undefined) return here;
        const body = toMove(whole);
        const decided = await threads.ask(
          { kind: 'body', input: { ...built, body, policies: policies.names, results } },
          { key, memory: memoryOf(body), lifetime },
        );
        if (decided.kind === 'blocked') return decided;
        const bytes = toBuffer(decided.body);
        if (decided.kind === 'passed') return { ...decided, body: bytes };
        whole = bytes;
        return new Unchecked(decided.unasked, decided.results);
      });
    },
    /** Throws provider.broken_response for what is not JSON. */
    async readAnswer(whole: Buffer, reader: AnswerReader, lifetime: Lifetime): Promise<CheckedBody> {
      const here = decideHere(threads, whole, (checkpoint) => readAnswer(whole, reader, checkpoint));
      if (here !== undefined) return here;
      const { key, form, answerRules, masked, endpoint, policies, scrubber, translation } = reader;
      const body = toMove(whole);
      const input = {
        ...{ body, form, answerRules, masked },
        path: endpoint.path,
        policies: policies.names,
        secrets: scrubber.secrets,
        translation: translation && { ...translation.pair, translated: translation.answerContext() },
      };
      const { result, ...read } = await threads.ask(
        { kind: 'answer', input },
        { key, memory: memoryOf(body), lifetime },
      );
      return { ...read, result: result instanceof Uint8Array ? toBuffer(result) : fromErrorParts(result) };
    },
    /** Ends the threads. */
    close: (): Promise<void> => threads.end(),
  };
}

/** Decides once, or, where services are asked about texts, until they have been asked about all of them. */
function checked<Decided>(
  { checks }: PolicySet,
  by: { readonly calls: CheckCalls; readonly lifetime: Lifetime; readonly key: string },
  attempt: (results: CheckResults | undefined) => Promise<Decided | Unchecked>,
): Promise<Decided> {
  // Without a service nothing is left unchecked.
  return checks === undefined
    ? (attempt(undefined) as Promise<Decided>)
    : withChecks({ checks, ...by }, attempt);
}

/** A decision with what services have said of texts; where none is asked, the decision itself. */
function knowing<Decided>(
  { checks }: PolicySet,
  results: CheckResults | undefined,
  decide: (checkpoint: Checkpoint) => Decided,
): (checkpoint: Checkpoint) => Decided | Unchecked {
  if (checks === undefined || results === undefined) return decide;
  return (checkpoint) => checks.decide(results, () => decide(checkpoint));
}

/** What is decided in this thread; undefined if another one has to. */
function decideHere<Result>(
  threads: DecisionThreads,
  body: Uint8Array,
  decide: (checkpoint: Checkpoint) => Result,
): Result | undefined {
  if (body.length > threadBytes) return undefined;
  try {
    return decide(mainThreadBudget(threads.areStarted ? budgetMs : coldBudgetMs));
  } catch (thrown) {
    if (thrown instanceof GivenUp) return undefined;
    throw thrown;
  }
}

/** Bytes in memory of their own, which can be transferred. */
function toMove(body: Buffer): Buffer {
  const isOwn = body.length > movedBytes && body.byteLength === body.buffer.byteLength;
  return isOwn ? body : toBuffer(new Uint8Array(body));
}

/** What a decision may take in the main thread, where all other exchanges wait for it, until it is given up there. */
const budgetMs = 20;
/** As long as there is no thread, as starting one takes several times as long; the code is cold then, and five times as slow. */
const coldBudgetMs = 100;
/** Characters that a detector reads in less than 30 ms in the worst case. */
const longText = 49_152;
/** Reading the clock costs as much as a very short text: it is read once in this many texts, or characters. */
const textsBetween = 16;
const charactersOfText = 256;

/**
 * Gives a decision up when it has taken its time, or is about to run a detector over a long text: what that costs shows
 * only afterwards. From here on, with a clock.
 */
export function mainThreadBudget(limitMs: number, now: () => number = () => performance.now()): Checkpoint {
  const endsAt = now() + limitMs;
  let unread = 0;
  return (next = 0) => {
    if (next > longText) throw new GivenUp('the text is long');
    unread += 1 + next / charactersOfText;
    if (unread < textsBetween) return;
    unread = 0;
    if (now() > endsAt) throw new GivenUp('it took too long');
  };
}
