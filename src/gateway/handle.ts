import { readBody } from '../http/body.ts';
import { giveAnswer } from './answer/answer.ts';
import { authenticate } from './authenticate.ts';
import { decide } from './decision/decide.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { sendEstimate } from './own-answers/estimate.ts';
import { answerOwn } from './own-answers/own-answers.ts';
import { receive } from './receive.ts';
import { checkMediaType } from './request.ts';
import { sendOn, usableTargets } from './send-on.ts';

/**
 * THE STORY: one exchange from its first header to its record. Each step takes what the one before returned,
 * or throws what the client is told instead; the order is what keeps the promises.
 */
export async function handle(exchange: Exchange, gateway: Gateway): Promise<void> {
  const { decider } = gateway;
  try {
    const { endpoint, path, query } = receive(exchange, gateway.door);
    if (endpoint.method === 'GET') return await answerOwn(exchange, gateway, { endpoint, path, query });

    const key = authenticate(exchange.request, gateway.keys, exchange.startedMs);
    exchange.draft.noteCaller(endpoint.name, key);
    gateway.admit();

    checkMediaType(exchange.request);
    const body = await readBody(exchange.request, exchange.response, gateway.bodyLimits);
    exchange.noteBody(body, { isRecorded: gateway.recordsBodies });
    const asked = await decider.read(body, endpoint, exchange.lifetime);
    exchange.draft.noteRequest(asked);

    const route = gateway.router.resolve(asked.model);
    const question = { request: asked, endpoint, key, targets: route?.targets ?? [], decider };
    const { decision, request, check } = await decide(exchange, question);
    const targets = usableTargets(route, request, endpoint);
    if (targets.length === 0) return sendEstimate(exchange, request);

    const reserving = exchange.reserve({ request, endpoint, route, targets }, gateway.limiterFor(key));
    if (reserving !== undefined) await reserving;

    const forwarded = await sendOn(exchange, { request, endpoint, decision, route, targets, query });
    await giveAnswer(exchange, forwarded, { endpoint, request, gateway, check });
  } catch (thrown) {
    exchange.refuse(thrown);
  } finally {
    gateway.record(exchange.finish(gateway.configHash, gateway.scrubText), exchange.repeatKey());
  }
}
