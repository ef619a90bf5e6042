import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { KnownBodies } from '../../json/known-bodies.ts';
import { compilePolicies, type PolicySource } from '../../policy/compile.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { judge } from './judge.ts';
import { fromParts, memoryOf, type ThreadAnswer, type ThreadQuestion, toParts } from './thread-messages.ts';

// The entry of the thread that reads and decides large bodies: it compiles the policies once and answers one
// question after the other. Of requests it keeps copies of the last bodies and what the policies found in them.

const { policies, secrets } = workerData as PolicySource; // the gateway starts this thread with nothing else
const compiled = compilePolicies(policies, secrets);
const known = new KnownBodies({ limitBytes: 1 << 25 });

parentPort?.on('message', (question: ThreadQuestion) => {
  const answer = answerTo(question);
  parentPort?.postMessage(answer, 'request' in answer ? memoryOf(answer.request) : []);
});

function answerTo(question: ThreadQuestion): ThreadAnswer {
  try {
    return question.kind === 'read' ? read(question) : decide(question);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) return { kind: 'failed', cause: String(thrown) };
    const { code, message, param } = thrown;
    return { kind: 'refused', code, message, param };
  }
}

function read({ path, body }: Extract<ThreadQuestion, { kind: 'read' }>): ThreadAnswer {
  // A copy, because the body's own memory goes back with the answer.
  const { document, ...fields } = toParts(parseRequest(Buffer.from(body), endpointAt(path), known));
  return { kind: 'read', request: { ...fields, document: { ...document, bytes: body } } };
}

function decide(question: Extract<ThreadQuestion, { kind: 'judge' }>): ThreadAnswer {
  const { path, request, policies: names, key, targetModels, nowMs } = question;
  const endpoint = endpointAt(path);
  const asked = fromParts(request);
  const document = known.recall(asked.document.bytes) ?? asked.document;
  const judgement = judge(compiled.select(names), {
    request: { ...asked, document },
    endpoint,
    key,
    targetModels,
    nowMs,
  });
  const isRedacted = judgement.request.document !== document;
  const { redacted: _, failure, ...decision } = judgement.decision;
  return {
    kind: 'judged',
    // What was thrown may hold anything; only its text can surely be sent.
    decision: {
      ...decision,
      ...(failure && { failure: { rule: failure.rule, cause: String(failure.cause) } }),
    },
    request: isRedacted ? toParts(judgement.request) : request,
    answerRules: judgement.answerRules,
  };
}

function endpointAt(path: string): ModelEndpoint {
  const endpoint = endpoints.get(path);
  if (endpoint === undefined || !isModelEndpoint(endpoint)) throw new Error(`no model endpoint at ${path}`);
  return endpoint;
}
