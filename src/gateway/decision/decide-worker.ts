import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { compilePolicies } from '../../policy/compile.ts';
import type { Decision } from '../../policy/rule.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { findDemand } from '../spending/demand.ts';
import { decideRequest, factsOf, toSubject } from './decide-request.ts';
import {
  createTargetModels,
  memoryOf,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
  toParts,
} from './thread-messages.ts';
import { toBuffer, translateRequest } from './translate-request.ts';

// The entry of the thread that decides on large bodies: it compiles the policies once and handles one request at a
// time.

const { source, ...names } = workerData as ThreadData; // the gateway starts this thread with nothing else
const compiled = compilePolicies(source.policies, source.secrets, source);
const targetModels = createTargetModels(names);

parentPort?.on('message', (question: ThreadQuestion) => {
  const answer = answerTo(question);
  parentPort?.postMessage(answer, movedMemory(answer));
});

function answerTo(question: ThreadQuestion): ThreadAnswer {
  try {
    return question.kind === 'request' ? answerRequest(question) : answerTranslation(question);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) return { kind: 'failed', cause: String(thrown) };
    const { code, message, param } = thrown;
    return { kind: 'refused', code, message, param };
  }
}

function movedMemory(answer: ThreadAnswer): readonly ArrayBuffer[] {
  if (answer.kind === 'request') return memoryOf(answer.request.document.bytes, answer.request.document.tape);
  return answer.kind === 'translation' ? memoryOf(answer.body) : [];
}

function answerRequest(question: Extract<ThreadQuestion, { kind: 'request' }>): ThreadAnswer {
  const { path, pathModel, body, key, policies, nowMs } = question;
  const endpoint = endpointAt(path);
  const request = parseRequest(toBuffer(body), endpoint, pathModel);
  const facts = factsOf(request, { endpoint, key, targetModels: targetModels(request.model), nowMs });
  const set = compiled.select(policies);
  const result = decideRequest(set, request, { endpoint, facts });
  const decision = toPlain(result.decision);
  if (decision.action === 'block') return { ...result, kind: 'request', decision, request: toParts(request) };
  // All that looks through the document, here and not in the main thread, which other exchanges wait for.
  const { document } = result.request;
  const known = {
    demand: findDemand(document, endpoint),
    capLimit: set.capLimit(toSubject(facts, document, endpoint.dialect)),
  };
  return { ...result, kind: 'request', decision, request: toParts({ ...result.request, ...known }) };
}

function answerTranslation(question: Extract<ThreadQuestion, { kind: 'translation' }>): ThreadAnswer {
  const { translation, ...result } = translateRequest(compiled.select(question.policies), question);
  const decision = toPlain(result.decision);
  return { ...result, kind: 'translation', decision, translated: translation.facts() };
}

/** A thrown value may contain anything; only its text can safely be sent to another thread. */
function toPlain({ redacted: _, failure, ...decision }: Decision): Decision {
  if (failure === undefined) return decision;
  return { ...decision, failure: { rule: failure.rule, cause: String(failure.cause) } };
}

function endpointAt(path: string): ModelEndpoint {
  const endpoint = endpoints.get(path);
  if (endpoint === undefined || !isModelEndpoint(endpoint)) throw new Error(`no model endpoint at ${path}`);
  return endpoint;
}
