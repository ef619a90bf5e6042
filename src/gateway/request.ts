import { shownPlace } from '../dialects/place-names.ts';
import { type RequestFields, readFields } from '../dialects/request-fields.ts';
import { GatewayError } from '../errors.ts';
import type { JsonDocument } from '../json/json-document.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Demand } from './spending/demand.ts';

/** A strictly parsed model request. */
export interface ModelRequest extends RequestFields {
  readonly document: JsonDocument;
  /** Found by the decision thread for a large body; absent otherwise. */
  readonly demand?: Demand;
  /** The same: what it asks for that costs other than the known prices (`findAskedModes`). */
  readonly askedModes?: readonly string[];
  /** The same: whether it may have what the gateway has sealed in an earlier answer. */
  readonly mayHaveSeals?: boolean;
  /** The largest cap on output that no rule objects to; absent if there is none. */
  readonly capLimit?: number;
}

/**
 * Parses a body strictly and checks the fields that the gateway reads; the model may be in the path. An error's place has
 * no keys but the dialects' own.
 */
export function parseRequest(
  body: Buffer,
  { dialect, call }: ModelEndpoint,
  pathModel?: string,
): ModelRequest {
  try {
    return parse(body, { dialect, call }, pathModel);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.param === undefined) throw error;
    const { code, message, param } = error;
    throw new GatewayError(code, message, { param: shownPlace(param), cause: error.cause });
  }
}

function parse(
  body: Buffer,
  { dialect, call }: Pick<ModelEndpoint, 'dialect' | 'call'>,
  pathModel: string | undefined,
): ModelRequest {
  const document = parseStrictJson(body);
  const isInPath = pathModel !== undefined;
  const caller = { model: pathModel, stream: isInPath ? call.stream : ('asked' as const) };
  const { model, modelEntries, stream } = readFields(document, dialect, caller);
  if (stream && call.stream === false) {
    throw new GatewayError('request.field', 'there is nothing to stream here: leave stream out', {
      param: '/stream',
    });
  }
  return { document, model, modelEntries, stream };
}
