import { GatewayError } from '../../errors.ts';
import type { Call } from './call.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/_/`, but for `/`; `:id` stands for one segment. */
  readonly path: string;
  /** Who may call: only with a session, or anyone whose Host and Origin are allowed. */
  readonly access: 'session' | 'open';
  /** Returns the value to send as JSON; undefined if it has already answered. */
  readonly answer: (call: Call) => unknown;
}

export interface Routed {
  readonly route: Route;
  readonly parameter: string;
}

/** Finds the route of a method and a path. Throws inspector.unknown and method.not_allowed. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Routed {
  const patterns = routes.map((route) => ({ route, pattern: toPattern(route.path) }));
  return (method, path) => {
    const found = patterns.flatMap(({ route, pattern }) => {
      const match = pattern.exec(path);
      return match === null ? [] : [{ route, parameter: match[1] ?? '' }];
    });
    const routedMethod = method === 'HEAD' ? 'GET' : method;
    const routed = found.find(({ route }) => route.method === routedMethod);
    if (routed !== undefined) return routed;
    if (found.length === 0) throw new GatewayError('inspector.unknown', 'there is no such path below /_/');
    const allow = found.map(({ route }) => route.method).join(', ');
    throw new GatewayError('method.not_allowed', `this path takes ${allow} only`, { headers: { allow } });
  };
}

function toPattern(path: string): RegExp {
  if (path === '/') return /^\/$/;
  const text = path.replaceAll(/[.$]/g, '\\$&').replace(':id', '([A-Za-z0-9._-]{1,100})');
  return new RegExp(`^/_/${text}$`);
}
