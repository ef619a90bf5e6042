import { GatewayError } from '../../errors.ts';
import type { SendAgainAnswer, TryPolicyAnswer } from '../contract/actions.ts';
import { meaningfulHeaders, requireBody } from '../detail/curl.ts';
import { locate } from '../detail/locate.ts';
import { type Call, readJson, requestBodyBytes, textField } from './call.ts';
import type { RouteContext } from './route-context.ts';

/** Throws inspector.unknown, inspector.not_kept, and whatever prevents the request from being sent. */
export async function sendAgain(call: Call, { ring, backend }: RouteContext): Promise<SendAgainAnswer> {
  const fields = await readJson(call, requestBodyBytes);
  const entry = ring.find(textField(fields, 'id') ?? '');
  if (entry === undefined) throw unknownExchange();
  const { path, key } = entry.facts;
  if (path === undefined || key === undefined) {
    throw new GatewayError(
      'inspector.not_kept',
      'this exchange had no key that is known here, so it cannot be sent again',
    );
  }
  const given = textField(fields, 'body');
  const text = given ?? requireBody(entry).toString();
  const model = textField(fields, 'model');
  const body = Buffer.from(model === undefined ? text : withModel(text, model));
  const sent = await backend.sendAgain({ path, key, headers: meaningfulHeaders(entry), body });
  const again = ring.find(sent.id);
  if (again !== undefined) {
    again.again = entry.id;
    ring.changed(again);
  }
  return sent;
}

/** Replaces only the characters of the model's name, as for configured aliases. */
function withModel(text: string, model: string): string {
  const range = locate(text, ['/model']).get('/model');
  if (range === undefined) {
    throw new GatewayError('request.field', 'the body has no model that could be replaced', {
      param: '/model',
    });
  }
  return text.slice(0, range.start) + JSON.stringify(model) + text.slice(range.end);
}

/** Size limit of a scratch copy, and of the request that it is tried on. */
const longestScratch = 1024 * 1024;
/** Both of them, escaped as JSON strings. */
const scratchBodyBytes = 16 * longestScratch;

/** Throws inspector.unknown, inspector.not_kept, request.too_large, inspector.busy. */
export async function tryPolicy(call: Call, { ring, backend }: RouteContext): Promise<TryPolicyAnswer> {
  const fields = await readJson(call, scratchBodyBytes);
  const policies = textField(fields, 'policies') ?? '';
  const id = textField(fields, 'id');
  const given = textField(fields, 'body');
  const entry = id === undefined ? undefined : ring.find(id);
  if (id !== undefined && entry === undefined) throw unknownExchange();
  if (entry === undefined && given === undefined) {
    throw new GatewayError('request.field', 'give the request: body, or id of an exchange', {
      param: '/body',
    });
  }
  const body = given === undefined && entry !== undefined ? requireBody(entry) : Buffer.from(given ?? '');
  if (policies.length > longestScratch || body.length > longestScratch) {
    throw new GatewayError('request.too_large', 'rules and request may be at most a megabyte each');
  }
  return backend.tryPolicy(policies, {
    body,
    endpoint: textField(fields, 'endpoint') ?? entry?.facts.endpoint,
    key: textField(fields, 'key') ?? entry?.facts.key,
    atMs: Date.now(),
  });
}

function unknownExchange(): GatewayError {
  return new GatewayError('inspector.unknown', 'this exchange is no longer kept, or never was');
}
