import { authenticate } from './authenticate.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import type { GatewayKey } from './gateway-key.ts';

/** Whose request it is. Throws key.…, also for a login of the client's own that can't be used. */
export function identify({ request, login, startedMs }: Exchange, gateway: Gateway): GatewayKey {
  if (login?.fault !== undefined) throw login.fault;
  return authenticate(request, gateway, startedMs);
}
