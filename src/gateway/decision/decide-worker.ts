import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { compilePolicies } from '../../policy/compile.ts';
import type { Decision } from '../../policy/rule.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { worstInputTokens } from '../worst-input.ts';
import { decideBody, decideRequest, factsOf } from './decide-request.ts';
import { createTargetModels } from './target-models.ts';
import {
  memoryOf,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
  toParts,
} from './thread-messages.ts';

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
    return question.kind === 'request' ? answerRequest(question) : answerBody(question);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) return { kind: 'failed', cause: String(thrown) };
    const { code, message, param } = thrown;
    return { kind: 'refused', code, message, param };
  }
}

function movedMemory(answer: ThreadAnswer): readonly ArrayBuffer[] {
  if (answer.kind === 'request') return memoryOf(answer.request.document.bytes, answer.request.document.tape);
  return answer.kind === 'body' ? memoryOf(answer.body) : [];
}

function answerRequest(question: Extract<ThreadQuestion, { kind: 'request' }>): ThreadAnswer {
  const { path, body, key, policies, nowMs } = question;
  const endpoint = endpointAt(path);
  const request = parseRequest(toBuffer(body), endpoint);
  const facts = factsOf(request, { endpoint, key, targetModels: targetModels(request.model), nowMs });
  const result = decideRequest(compiled.select(policies), request, { endpoint, facts });
  // Here and not in the main thread, which other exchanges wait for.
  const estimated =
    result.decision.action === 'block'
      ? result.request
      : { ...result.request, inputTokens: worstInputTokens(result.request.document) };
  return { ...result, kind: 'request', decision: toPlain(result.decision), request: toParts(estimated) };
}

function answerBody(question: Extract<ThreadQuestion, { kind: 'body' }>): ThreadAnswer {
  const { body, dialect, facts, policies } = question;
  const result = decideBody(compiled.select(policies), { body: toBuffer(body), dialect, facts });
  return { ...result, kind: 'body', decision: toPlain(result.decision) };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
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
