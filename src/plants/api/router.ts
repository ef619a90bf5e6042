import { GatewayError } from '../../errors.ts';
import type { Operation } from './operation.ts';

export interface Route {
  readonly operation: Operation;
  readonly parameter: string;
}

type Methods = ReadonlyMap<string, Operation>;

/** Finds the operation of a method and path. Throws endpoint.unknown, and method.not_allowed with the allowed methods. */
export function createRouter(operations: readonly Operation[]): (method: string, path: string) => Route {
  const fixed = new Map<string, Map<string, Operation>>();
  const variable = new Map<string, Map<string, Operation>>();
  for (const operation of operations) {
    const at = operation.path.indexOf('{');
    const [table, key] = at < 0 ? [fixed, operation.path] : [variable, operation.path.slice(0, at)];
    const methods = table.get(key) ?? new Map<string, Operation>();
    table.set(key, methods.set(operation.method, operation));
  }
  return (method, path) => {
    const exact = fixed.get(path);
    if (exact !== undefined) return { operation: choose(exact, method), parameter: '' };
    const cut = path.lastIndexOf('/') + 1;
    const methods = cut < path.length ? variable.get(path.slice(0, cut)) : undefined;
    if (methods === undefined) {
      throw new GatewayError(
        'endpoint.unknown',
        'there is nothing at this address; /v3/docs lists what there is',
      );
    }
    return { operation: choose(methods, method), parameter: path.slice(cut) };
  };
}

function choose(methods: Methods, method: string): Operation {
  const operation = methods.get(method === 'HEAD' ? 'GET' : method);
  if (operation !== undefined && !(method === 'HEAD' && operation.path.includes('/auth/'))) return operation;
  const allow = [...methods.keys()].join(', ');
  throw new GatewayError('method.not_allowed', `this address accepts ${allow}`, { headers: { allow } });
}
