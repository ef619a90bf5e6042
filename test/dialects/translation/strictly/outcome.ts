/** What a client understood of a stream. */
export interface Outcome {
  readonly thinking: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: string;
  readonly usage: unknown;
  readonly error: unknown;
}

export interface WireEvent {
  readonly name: string | undefined;
  // Test code reads deep into what it has just received; every wrong path fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  readonly data: any;
}

/** The arguments of a call; a text if they are cut. */
export function readInput(json: string): unknown {
  try {
    return JSON.parse(json || '{}');
  } catch {
    return json;
  }
}
