import { type HeldBytes, readBody } from '../http/body.ts';
import { sendAnswer } from './answer/answer.ts';
import { type ClientAnswer, clientAnswer } from './answer/client-answer.ts';
import { extractLogin, identify } from './authenticate.ts';
import { decide } from './decision/decide.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { answerLocally, sendEstimate } from './local-endpoints/answer-locally.ts';
import { forward } from './outgoing/forward.ts';
import { allowPage, checkMediaType, receive } from './receive.ts';
import { refuse } from './refuse.ts';
import { route } from './route.ts';
import { readSender } from './sender.ts';
import { identifyBody, runLimits } from './spending/spending.ts';

/**
 * One exchange, from its request's head to its record. A step that throws ends it with an error to the client. The
 * order matters: nothing of the body is read before the key is known, nothing leaves before the policies have
 * decided and the budget is reserved, and every ending is settled and recorded once. Some awaits stand where
 * there is mostly nothing to wait for: docs/decisions/hot-path.md has why.
 */
export async function handle(exchange: Exchange, gateway: Gateway): Promise<void> {
  const { request, response, events } = exchange;
  const login = extractLogin(exchange, gateway);
  let held: HeldBytes | undefined;
  let answer: ClientAnswer | undefined;
  response.beforeEnd(exchange);
  try {
    if (allowPage(exchange, gateway)) return;
    const received = receive(exchange, gateway);
    const { endpoint, pathModel, query } = received;
    if (endpoint.method === 'GET') return await answerLocally(exchange, gateway, { ...received, login });

    const { key, runs } = identify(exchange, gateway, { endpoint: endpoint.name, login });
    gateway.admit();

    checkMediaType(request);
    held = gateway.holdBody(key);
    const reading = readBody(request, response, gateway.bodyLimits, held);
    const body = reading instanceof Promise ? await reading : reading;
    const sender = readSender(request, runs);
    events.read({ body, sender, isRecorded: gateway.recordsBodies, scrubber: login?.scrubber });
    const limiter = gateway.limiterFor(key, runLimits(runs, key.id));
    const sent = limiter?.needsIdentity === true ? identifyBody(body) : undefined;

    // It takes the body: a large one's memory moves to a thread, and what comes back is in `decided`.
    const decided = await decide(exchange, gateway, { body, endpoint, pathModel, key, login, sender });
    const hasLogin = login?.credential !== undefined;
    const routed = route(decided, { router: gateway.router, hasLogin });
    if (routed.kind === 'estimate') return sendEstimate(exchange, decided);

    const reserving = exchange.spending.reserve(routed, { limiter, sent, ledger: gateway.ledger });
    if (reserving !== undefined) await reserving;
    exchange.lifetime.check(); // the client may have left, or the time may be up, while that waited
    events.reserved();
    const { decider } = gateway;
    const { isLimited } = exchange.spending;
    answer = clientAnswer(exchange, routed, query);
    const forwarded = await forward(exchange, { routed, query, decider, isLimited });
    await sendAnswer(exchange, gateway, { forwarded, decided, query, held, client: answer });
  } catch (thrown) {
    refuse(exchange, thrown, answer);
  } finally {
    answer?.stop();
    held?.release();
    exchange.end(gateway.hash);
  }
}
