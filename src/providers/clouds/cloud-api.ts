/** A request for a model, before it is known how its host wants to be asked. */
export interface Call {
  /** One of the gateway's own paths. */
  readonly path: string;
  /** The model's name at the host. */
  readonly model: string;
  readonly stream: boolean;
}

/** What a host takes in the body of Anthropic's messages that others take in headers, and the other way round. */
export interface Envelope {
  /** The value of `anthropic_version`, unless the client gives one; the header of that name is left out. */
  readonly version: string;
  /** Members that the path says instead, so that the body must not. */
  readonly pathMembers: readonly string[];
  /** Whether it has the flags of `anthropic-beta` as `anthropic_beta`, in place of the header. */
  readonly holdsBetas: boolean;
  /** The flags that it takes, by Anthropic's names: it refuses requests with any other. Undefined: all are sent. */
  readonly betas: ReadonlyMap<string, string> | undefined;
}

/** Flags that are called the same at a cloud, and those that have another name there. */
export function betaNames(
  same: readonly string[],
  others: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  return new Map([...same.map((name) => [name, name] as const), ...Object.entries(others)]);
}

/** How a cloud is asked that doesn't have the paths of the dialect. */
export interface CloudApi {
  /** The request target below the path of the base URL. */
  pathFor(call: Call): string;
  envelopeFor?(call: Pick<Call, 'path'>): Envelope;
}
