import { GatewayError } from '../../errors.ts';
import { endpoints, isModelEndpoint, type ModelEndpoint } from '../../gateway/endpoints.ts';

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
  const fields = topFields(body);
  if (fields.has('messages')) {
    return endpointNamed(fields.has('max_tokens') || fields.has('system') ? 'messages' : 'chat');
  }
  const isList =
    Array.isArray(fields.get('input')) && typeof (fields.get('input') as unknown[])[0] !== 'object';
  if (isList || fields.has('encoding_format') || fields.has('dimensions')) return endpointNamed('embeddings');
  return endpointNamed('responses');
}

function topFields(body: Buffer): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  } catch {
    // Strict parsing will report what is wrong with it, whatever the endpoint.
    return new Map([['messages', []]]);
  }
}
