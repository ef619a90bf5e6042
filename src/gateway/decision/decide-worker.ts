import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { compilePolicies } from '../../policy/compile.ts';
import type { Decision } from '../../policy/rule.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { createScrubber } from '../scrub.ts';
import { findDemand } from '../spending/demand.ts';
import { decideRequest, factsOf, toSubject } from './decide-request.ts';
import { readAnswer } from './read-answer.ts';
import {
  createTargetModels,
  memoryOf,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
  toErrorParts,
  toParts,
} from './thread-messages.ts';
import { toBuffer, translateRequest, translationOf } from './translate-request.ts';

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
    switch (question.kind) {
      case 'request':
        return answerRequest(question);
      case 'translation':
        return answerTranslation(question);
      case 'answer':
        return answerAnswer(question);
    }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) return { kind: 'failed', cause: String(thrown) };
    return { kind: 'refused', error: toErrorParts(thrown) };
  }
}

function movedMemory(answer: ThreadAnswer): readonly ArrayBuffer[] {
  if (answer.kind === 'request') return memoryOf(answer.request.document.bytes, answer.request.document.tape);
  if (answer.kind === 'translation') return memoryOf(answer.body);
  return answer.kind === 'answer' && answer.result instanceof Uint8Array ? memoryOf(answer.result) : [];
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

function answerAnswer(question: Extract<ThreadQuestion, { kind: 'answer' }>): ThreadAnswer {
  const { path, body, policies, secrets, translation, ...rest } = question;
  const { result, ...read } = readAnswer(toBuffer(body), {
    ...rest,
    endpoint: endpointAt(path),
    policies: compiled.select(policies),
    scrubber: createScrubber(secrets),
    translation: translation && translationOf(translation, translation.translated),
  });
  return { ...read, kind: 'answer', result: result instanceof GatewayError ? toErrorParts(result) : result };
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
