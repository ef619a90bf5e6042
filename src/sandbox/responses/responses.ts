import type { Answer } from '../ask.ts';
import { decideAnswer } from '../behaviour.ts';
import { countDeltas, createdSeconds, type Exchange, paceOf } from '../exchange.ts';
import { findTextModel } from '../models.ts';
import type { Reply } from '../reply.ts';
import { responseBody, toItems, toUsage } from './responses-body.ts';
import { parseResponsesRequest } from './responses-request.ts';
import { responsesFrames } from './responses-stream.ts';

/** POST /v1/responses */
export function answerResponses(exchange: Exchange): Reply {
  const model = findTextModel(exchange.model);
  const request = parseResponsesRequest(exchange.body, model);
  const answer = decideAnswer(request.ask);
  const pace = paceOf(model);
  const items = toItems(answer, exchange, request);
  const started = responseBody(exchange, 'in_progress', {});
  const ended = responseBody(exchange, statusOf(answer), {
    output: items,
    usage: toUsage(request, answer),
    completed_at: createdSeconds,
  });
  if (request.isStreaming) {
    return { kind: 'stream', frames: responsesFrames({ started, ended, items, answer }), pace };
  }
  return { kind: 'plain', value: ended, pace, deltas: countDeltas(answer) };
}

function statusOf({ end }: Answer): 'completed' | 'incomplete' {
  return end.kind === 'length' ? 'incomplete' : 'completed';
}
