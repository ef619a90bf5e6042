import { readBody } from '../http/body.ts';
import { sendAnswer } from './answer/answer.ts';
import { takeLogin } from './client-login.ts';
import { decide } from './decision/decide.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { identify } from './identify.ts';
import { answerLocally } from './local-endpoints/answer-locally.ts';
import { sendEstimate } from './local-endpoints/send-estimate.ts';
import { forward } from './outgoing/forward.ts';
import { receive } from './receive.ts';
import { checkMediaType } from './request.ts';
import { usableTargets } from './targets.ts';

/**
 * One exchange, from its request's head to its record. A step that throws ends it with an error to the client. The
 * order matters: nothing of the body is read before the key is known, nothing leaves before the policies have
 * decided and the budget is reserved, and whatever happens is settled and recorded once.
 */
export async function handle(exchange: Exchange, gateway: Gateway): Promise<void> {
  const { decider, ledger, router } = gateway;
  exchange.addMasks(gateway.masks);
  // First of all, so that even a record of a wrong path can't have it.
  if (gateway.takesLogins) exchange.noteLogin(takeLogin(exchange.request, gateway.keys));
  try {
    const { endpoint, path, query } = receive(exchange, gateway.access);
    if (endpoint.method === 'GET') return await answerLocally(exchange, gateway, { endpoint, path, query });

    const key = identify(exchange, gateway);
    exchange.draft.noteCaller(endpoint.name, key);
    exchange.beginSpans(gateway.tracer);
    gateway.admit();

    checkMediaType(exchange.request);
    exchange.held = gateway.holdBody(key);
    const body = await readBody(exchange.request, exchange.response, gateway.bodyLimits, exchange.held);
    exchange.noteBody(body, { isRecorded: gateway.recordsBodies });

    const decided = await decide(exchange, gateway, { body, endpoint, key });
    const { request, check } = decided;
    const route = router.resolve(request.model);
    const targets = usableTargets(route, request, {
      endpoint,
      hasLogin: exchange.login?.credential !== undefined,
    });
    if (targets.length === 0) return sendEstimate(exchange, request);

    const limiter = gateway.limiterFor(key);
    const reserving = exchange.reserve({ request, endpoint, route, targets }, limiter);
    if (reserving !== undefined) await reserving;
    const entering = ledger && exchange.enter(ledger, { key, isRequired: limiter?.hasBudget === true });
    if (entering !== undefined) await entering;

    const isLimited = limiter?.needsAmounts === true;
    const outgoing = { decided, route, targets, query, decider, isLimited };
    const forwarded = await forward(exchange, outgoing);
    await sendAnswer(exchange, forwarded, { endpoint, request, check, pieces: gateway.pieces });
  } catch (thrown) {
    exchange.refuse(thrown);
  } finally {
    void exchange.settle(); // it never rejects
    const record = exchange.finish(gateway.configHash);
    if (exchange.isRecorded) gateway.record(record, exchange.repeatKey());
  }
}
