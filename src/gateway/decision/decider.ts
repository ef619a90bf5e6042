import { GatewayError } from '../../errors.ts';
import { KnownBodies } from '../../json/known-bodies.ts';
import type { Lifetime } from '../../lifetime.ts';
import type { PolicySet, PolicySource } from '../../policy/compile.ts';
import { failedDecision } from '../../policy/rule-set.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import { type ModelRequest, parseRequest } from '../request.ts';
import { DecisionThread } from './decision-thread.ts';
import { type Judgement, judge, type Question } from './judge.ts';
import { fromParts, memoryOf, type ThreadAnswer, toParts } from './thread-messages.ts';

/** Up to here deciding holds up other exchanges for less than 10 ms (docs/decisions/policy-worker-threshold.md). */
export const threadBytes = 1_048_576;

/**
 * Reads requests and asks policies about them: small ones at once, large ones in a thread of their own, so
 * that nobody else waits for them. What comes back is the same.
 *
 * The last bodies are kept, in either thread those that it reads, as long as the configuration holds: an
 * agent sends most of a conversation again with every turn (docs/decisions/known-conversations.md).
 */
export interface Decider {
  /** Reads a body strictly. A large one's memory moves: go on with the request that this gives, not with `body`. */
  read(body: Buffer, endpoint: ModelEndpoint, lifetime: Lifetime): ModelRequest | Promise<ModelRequest>;
  /** Never throws but for the end of the lifetime. Go on with the judgement's request, for the same reason. */
  judge(policies: PolicySet, question: Question, lifetime: Lifetime): Judgement | Promise<Judgement>;
  /** Ends the thread, if there is one. */
  close(): Promise<void>;
}

export interface DeciderOptions {
  readonly source: PolicySource;
  /** The module that runs in the thread, where it is another than the product's. */
  readonly entry?: URL | undefined;
}

// Node 20 runs no TypeScript, so sources that run as they are (in tests) take the entry that was built.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/decide-worker.js' : './decide-worker.js';

export function createDecider({
  source,
  entry = new URL(ownEntry, import.meta.url),
}: DeciderOptions): Decider {
  const thread = new DecisionThread({ source, entry });
  const known = new KnownBodies();
  return {
    read: (body, endpoint, lifetime) =>
      body.length > threadBytes
        ? readInThread(thread, { body, endpoint, lifetime })
        : parseRequest(body, endpoint, known),
    judge: (policies, question, lifetime) =>
      question.request.document.bytes.length > threadBytes
        ? judgeInThread(thread, { policies, question, lifetime })
        : judge(policies, question),
    close: () => thread.end(),
  };
}

async function readInThread(
  thread: DecisionThread,
  { body, endpoint, lifetime }: { body: Buffer; endpoint: ModelEndpoint; lifetime: Lifetime },
): Promise<ModelRequest> {
  // Node's pool holds small buffers only, so a body of this size shares its memory with nothing.
  const memory = [body.buffer as ArrayBuffer];
  const answer = await thread.ask({ kind: 'read', path: endpoint.path, body }, { memory, lifetime });
  if (answer.kind === 'read') return fromParts(answer.request);
  throw refusal(answer);
}

async function judgeInThread(
  thread: DecisionThread,
  { policies, question, lifetime }: { policies: PolicySet; question: Question; lifetime: Lifetime },
): Promise<Judgement> {
  const { endpoint, key, targetModels, nowMs } = question;
  const request = toParts(question.request);
  const asked = {
    kind: 'judge' as const,
    path: endpoint.path,
    request,
    key: { id: key.id, project: key.project },
    policies: policies.names,
    targetModels,
    nowMs,
  };
  try {
    const answer = await thread.ask(asked, { memory: memoryOf(request), lifetime });
    if (answer.kind === 'judged') return { ...answer, request: fromParts(answer.request) };
    throw refusal(answer);
  } catch (thrown) {
    if (lifetime.reason !== undefined) throw lifetime.reason;
    const cause = thrown instanceof GatewayError ? (thrown.cause ?? thrown) : thrown;
    return { decision: failedDecision('policy', cause), request: question.request, answerRules: [] };
  }
}

function refusal(answer: ThreadAnswer): GatewayError {
  if (answer.kind === 'refused') {
    const { code, message, param } = answer;
    return new GatewayError(code, message, param === undefined ? {} : { param });
  }
  const cause = answer.kind === 'failed' ? answer.cause : 'the thread answered another question';
  return new GatewayError('policy.error', 'the request could not be checked, so it is refused', { cause });
}
