import { parentPort, workerData } from 'node:worker_threads';
import type { AnswerContext } from '../../dialects/translate.ts';
import { mayHaveSeals } from '../../dialects/translation/foreign-seals.ts';
import { GatewayError } from '../../errors.ts';
import { type CheckResults, Unchecked } from '../../policy/checks/check-book.ts';
import { compilePolicies } from '../../policy/compile.ts';
import type { PeakSizes } from '../../policy/conversations.ts';
import { arraysOf } from '../../policy/mask/masked-values.ts';
import type { Block, Decision, Pass } from '../../policy/rule.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { Scrubber } from '../scrub.ts';
import { withBody } from '../sender.ts';
import { findAskedModes, findDemand } from '../spending/demand.ts';
import { type BuiltBody, decideBody, decideRequest, type Incoming, requestMeta } from './decide-request.ts';
import { type AnswerReader, readAnswer } from './read-answer.ts';
import { createRoutePlanner } from './route-plan.ts';
import {
  type ErrorParts,
  memoryOf,
  type Preparation,
  type Prepared,
  type ThreadData,
  threadFailure,
  toErrorParts,
} from './thread-messages.ts';
import {
  type RequestTranslation,
  toBuffer,
  translateRequest,
  translationOf,
  type UntranslatedRequest,
} from './translate-request.ts';

// The entry of a thread that decides on large bodies: it compiles the policies once and handles one request at a
// time.

const { source, ...names } = workerData as ThreadData; // the gateway starts this thread with nothing else
const compiled = compilePolicies(source.policies, source.secrets, source);
const planOf = createRoutePlanner(names);

/** Without a question for this long, a thread gives back what its busiest second took, as the main one does. */
const restMs = 30_000;
const resting = setTimeout(() => {
  collectGarbage();
  collectGarbage();
}, restMs).unref();

parentPort?.on('message', (question: ThreadQuestion | Preparation) => {
  resting.refresh();
  if (question.kind === 'preparation') {
    compiled.select(question.input.policies).compile();
    parentPort?.postMessage({ isReady: true } satisfies Prepared);
    return;
  }
  const { reply, memory } = replyTo(question);
  parentPort?.postMessage(reply, memory);
});

interface JobReply {
  readonly reply: ThreadReply;
  readonly memory: readonly ArrayBuffer[];
}

function replyTo({ kind, input }: ThreadQuestion): JobReply {
  try {
    const { memory, ...result } = jobs[kind](input as never); // the type of a question pairs them
    return { reply: { result }, memory };
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : threadFailure(thrown);
    return { reply: { error: toErrorParts(error) }, memory: [] };
  }
}

/** What the thread can be asked. Each result is plain data, with the memory in it that is transferred. */
const jobs = { request, translation, body, answer };
export type Jobs = typeof jobs;

/** What the thread is asked: plain data for one of its jobs. */
export interface ThreadQuestion<Kind extends keyof Jobs = keyof Jobs> {
  readonly kind: Kind;
  readonly input: Parameters<Jobs[Kind]>[0];
}

/** What one of the jobs came to, as plain data. */
export type JobResult<Kind extends keyof Jobs> = WithoutMemory<ReturnType<Jobs[Kind]>>;
type WithoutMemory<Result> = Result extends unknown ? Omit<Result, 'memory'> : never;

/** The error of a body that strict parsing or the translation refused, or that could not be checked. */
export type ThreadReply = { readonly result: unknown } | { readonly error: ErrorParts };

interface Checking {
  /** What services said of its texts; undefined where none is asked. */
  readonly results: CheckResults | undefined;
}

/** What a job comes to, or, where a service has to be asked first, about what, with the body for the next time. */
function checked<Result>({ results, body }: Checking & { readonly body: Uint8Array }, job: () => Result) {
  const { checks } = compiled;
  if (checks === undefined || results === undefined) return job();
  checks.learn(results);
  const result = checks.decide(results, job);
  if (!(result instanceof Unchecked)) return result;
  const { unasked } = result;
  const memory = memoryOf(body);
  return { kind: 'unchecked' as const, unasked, results: result.results, body, memory };
}

interface RequestInput extends Pick<Incoming, 'pathModel' | 'key' | 'sender' | 'nowMs'>, Checking {
  readonly peaks: PeakSizes | undefined;
  readonly path: string;
  readonly body: Uint8Array;
  readonly policies: readonly string[];
}

/** Parses a client's body strictly and decides on it. */
function request(input: RequestInput) {
  return checked(input, () => decided(input));
}

function decided({ path, pathModel, body, key, sender, policies, nowMs, peaks }: RequestInput) {
  const endpoint = endpointAt(path);
  const parsed = parseRequest(toBuffer(body), endpoint, { pathModel });
  const plan = planOf(parsed.model);
  const meta = requestMeta(parsed, {
    ...{ endpoint, key, route: plan.fixed, nowMs },
    sender: withBody(sender, parsed.document, endpoint),
  });
  const decided = decideRequest(compiled.select(policies), parsed, { endpoint, meta, plan, peaks });
  const { document, ...fields } = decided.request;
  const parts = document.toParts();
  const memory = memoryOf(parts.bytes, parts.tape, ...arraysIn(decided.decision));
  if (decided.kind === 'blocked') {
    return {
      ...decided,
      decision: toPlainBlock(decided.decision),
      request: { ...fields, document: parts },
      memory,
    };
  }
  // All that looks through the document, here and not in the main thread, which other exchanges wait for.
  const known = {
    demand: findDemand(document, endpoint),
    askedModes: findAskedModes(document),
    mayHaveSeals: mayHaveSeals(document, endpoint.dialectName),
  };
  return {
    ...decided,
    decision: toPlainPass(decided.decision),
    request: { ...fields, ...known, document: parts },
    memory,
  };
}

/** Translates a decided request and decides on it again in the dialect of its provider. */
function translation(input: UntranslatedRequest & Checking & { readonly policies: readonly string[] }) {
  return checked(input, () => translated(input));
}

function translated({
  policies,
  ...untranslated
}: UntranslatedRequest & { readonly policies: readonly string[] }) {
  const decided = translateRequest(compiled.select(policies), untranslated);
  if (decided.kind === 'blocked') {
    return { ...decided, decision: toPlainBlock(decided.decision), memory: [] };
  }
  const { translation: made, ...passed } = decided;
  const decision = toPlainPass(passed.decision);
  return {
    ...passed,
    decision,
    translated: made.answerContext(),
    memory: memoryOf(passed.body, ...arraysIn(decision)),
  };
}

interface BodyInput extends Omit<BuiltBody, 'body'>, Checking {
  readonly body: Uint8Array;
  readonly policies: readonly string[];
}

/** Decides on a body in the client's own dialect in which something was changed. */
function body(input: BodyInput) {
  return checked(input, () => decidedBody(input));
}

function decidedBody({ policies, body: bytes, ...built }: BodyInput) {
  const decided = decideBody(compiled.select(policies), { ...built, body: toBuffer(bytes) });
  if (decided.kind === 'blocked') {
    return { ...decided, decision: toPlainBlock(decided.decision), memory: [] };
  }
  return {
    ...decided,
    decision: toPlainPass(decided.decision),
    memory: memoryOf(decided.body, ...arraysIn(decided.decision)),
  };
}

interface AnswerInput extends Pick<AnswerReader, 'form' | 'answerRules' | 'masked'> {
  readonly path: string;
  readonly body: Uint8Array;
  readonly policies: readonly string[];
  readonly secrets: readonly string[];
  readonly translation: (RequestTranslation['pair'] & { readonly translated: AnswerContext }) | undefined;
}

/** Translates and checks a provider's whole answer. */
function answer({ path, body, policies, secrets, translation: made, ...rest }: AnswerInput) {
  const { result, ...read } = readAnswer(toBuffer(body), {
    ...rest,
    endpoint: endpointAt(path),
    policies: compiled.select(policies),
    scrubber: new Scrubber(secrets),
    translation: made && translationOf(made, made.translated),
  });
  if (result instanceof GatewayError) return { ...read, result: toErrorParts(result), memory: [] };
  return { ...read, result, memory: memoryOf(result) };
}

/** A thrown value may contain anything; only its text can safely be sent to another thread. */
function toPlainBlock({ failure, ...decision }: Block): Block {
  if (failure === undefined) return decision;
  return { ...decision, failure: { rule: failure.rule, cause: String(failure.cause) } };
}

function toPlainPass({ redacted: _, ...decision }: Pass): Pass {
  return decision;
}

function arraysIn({ masked }: Pick<Decision, 'masked'>): readonly Uint32Array[] {
  return masked === undefined ? [] : arraysOf(masked);
}

function endpointAt(path: string): ModelEndpoint {
  const endpoint = endpoints.get(path);
  if (endpoint === undefined || !isModelEndpoint(endpoint)) throw new Error(`no model endpoint at ${path}`);
  return endpoint;
}
