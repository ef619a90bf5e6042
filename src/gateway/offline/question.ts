import type { KeyRecord } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import { toFields } from '../../dialects/fields.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import type { Action, Match } from '../../policy/rule.ts';
import { endpoints, findEndpoint, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import type { Sender } from '../sender.ts';

const modelEndpoints = [...endpoints.values()].filter(isModelEndpoint);

/** Where a request is sent. */
export interface RequestEndpoint {
  readonly endpoint: ModelEndpoint;
  /** The model's name if the path has it; where that is not known, the body may name it. */
  readonly pathModel?: string | undefined;
}

/**
 * A destination by its endpoint's name (`chat`) or its path (`/v1/chat/completions`, also with a model in it). Throws
 * usage.invalid.
 */
export function destinationNamed(text: string): RequestEndpoint {
  const named = modelEndpoints.find(({ name, path }) => name === text || path === text);
  if (named !== undefined) return { endpoint: named };
  const found = findEndpoint(text.split('?', 1)[0] ?? '');
  if (found !== undefined && isModelEndpoint(found.endpoint)) {
    return { endpoint: found.endpoint, pathModel: found.pathModel };
  }
  const names = modelEndpoints.map(({ name }) => name).join(', ');
  throw new GatewayError('usage.invalid', `there is no endpoint ${text}; there are ${names}`, {
    param: 'endpoint',
  });
}

/**
 * Guesses the endpoint that a body was made for. A policy sees the same texts whichever endpoint a body comes through;
 * only what counts as a system text or a tool's result may differ.
 */
export function guessDestination(body: Buffer): RequestEndpoint {
  const fields = toFields(parse(body));
  const dialect = Object.values(dialects).find((each) => each.recognizes(fields));
  return destinationNamed(dialect?.name ?? 'responses');
}

/** Strict parsing reports what is wrong with it at every endpoint. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

export interface Question extends RequestEndpoint {
  readonly config: Config;
  readonly key: KeyRecord;
  readonly body: Buffer;
  /** Who sends it, as far as its head would say; default: nobody that is known. */
  readonly sender?: Sender | undefined;
  readonly nowMs: number;
}

/** Which entries of the model list were considered, and where the request goes by them. */
export interface RouteReport {
  /** In their order. Taken is the first that holds, and the next one that holds if no target can take the request. */
  readonly entries: readonly {
    readonly entry: number;
    readonly match: string;
    readonly holds: boolean;
    /** Set if it doesn't hold, and would for a conversation that was larger before: nothing here knows that. */
    readonly may_be_held?: true;
    /** Where its conditions hold. */
    readonly matches: readonly Match[];
  }[];
  /** `provider/model`, in the order in which they are tried. */
  readonly targets: readonly string[];
}

/** What the gateway would decide. A body that strict parsing refuses is blocked, by no rule. */
export interface PredictedDecision {
  readonly decision: Action;
  /** The rule that determined the decision: for a block the one that refuses, else the first with that action. */
  readonly rule?: string;
  readonly reason?: string;
  /** JSON pointer of its first match. */
  readonly at?: string;
  readonly message?: string;
  /** Rules in monitor mode that would have blocked or redacted. */
  readonly would_block: readonly string[];
  readonly warnings: readonly string[];
  /** Pieces of content that no rule could look into. */
  readonly unseen: number;
  /** Where it goes, if conditions of the model list chose that. */
  readonly route?: RouteReport;
  /** Places of keys and passwords of documentation, which a rule that looks for secrets passes over; where it was asked. */
  readonly examples?: readonly string[];
}
