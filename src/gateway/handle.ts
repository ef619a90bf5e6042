import { readBody } from '../http/body.ts';
import { allowPage } from './allow-page.ts';
import { sendAnswer } from './answer/answer.ts';
import { authenticate } from './authenticate.ts';
import { keepLogin } from './client-login.ts';
import { decide } from './decision/decide.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { answerLocally, sendEstimate } from './local-endpoints/answer-locally.ts';
import { forward } from './outgoing/forward.ts';
import { receive } from './receive.ts';
import { beginSpans, noteBody, record } from './record.ts';
import { refuse } from './refuse.ts';
import { checkMediaType } from './request.ts';
import { reserve, settle } from './reserve.ts';
import { route } from './route.ts';
import { readSender } from './sender.ts';

/**
 * One exchange, from its request's head to its record. A step that throws ends it with an error to the client. The
 * order matters: nothing of the body is read before the key is known, nothing leaves before the policies have
 * decided and the budget is reserved, and whatever happens is settled and recorded once.
 */
export async function handle(exchange: Exchange, gateway: Gateway): Promise<void> {
  const { request, response, draft } = exchange;
  keepLogin(exchange, gateway);
  response.beforeEnd(() => settle(exchange));
  try {
    if (allowPage(exchange, gateway)) return;
    const received = receive(exchange, gateway);
    const { endpoint, pathModel, query } = received;
    if (endpoint.method === 'GET') return await answerLocally(exchange, gateway, received);

    const key = authenticate(exchange, gateway);
    draft.noteCaller(endpoint.name, key);
    exchange.sender = readSender(request);
    beginSpans(exchange, gateway);
    gateway.admit();

    checkMediaType(request);
    exchange.held = gateway.holdBody(key);
    const body = await readBody(request, response, gateway.bodyLimits, exchange.held);
    noteBody(exchange, body, gateway);

    const decided = await decide(exchange, gateway, { body, endpoint, pathModel, key });
    const routed = route(decided, {
      router: gateway.router,
      hasLogin: exchange.login?.credential !== undefined,
    });
    if (routed.targets.length === 0) return sendEstimate(exchange, decided);

    await reserve(exchange, gateway, routed);
    const forwarded = await forward(exchange, { ...routed, query, decider: gateway.decider });
    await sendAnswer(exchange, gateway, { forwarded, decided, query });
  } catch (thrown) {
    refuse(exchange, thrown);
  } finally {
    void settle(exchange); // it never rejects
    record(exchange, gateway);
  }
}
