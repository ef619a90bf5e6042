import { toFields } from '../../dialects/fields.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';

const modelEndpoints = [...endpoints.values()].filter(isModelEndpoint);

/** An endpoint by its name (`chat`) or its path (`/v1/chat/completions`). Throws usage.invalid. */
export function endpointNamed(text: string): ModelEndpoint {
  const found = modelEndpoints.find(({ name, path }) => name === text || path === text);
  if (found !== undefined) return found;
  const names = modelEndpoints.map(({ name }) => name).join(', ');
  throw new GatewayError('usage.invalid', `there is no endpoint ${text}; there are ${names}`, {
    param: 'endpoint',
  });
}

/**
 * Guesses the endpoint that a body was made for. A policy sees the same texts whichever endpoint a body comes through;
 * only what counts as a system text or a tool's result may differ.
 */
export function guessEndpoint(body: Buffer): ModelEndpoint {
  const fields = toFields(parse(body));
  const dialect = Object.values(dialects).find((each) => each.recognizes(fields));
  return endpointNamed(dialect?.name ?? 'responses');
}

/** Strict parsing will report what is wrong with it, whatever the endpoint. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
