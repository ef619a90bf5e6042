import type { Path } from './refusal.ts';

/** A JSON schema in the request, and its path. */
export interface PlacedSchema {
  readonly schema: unknown;
  readonly path: Path;
}

/** A tool the sandbox can call. */
export interface Tool {
  readonly name: string;
  /** Responses only: the namespace the tool was offered in. */
  readonly namespace?: string;
  readonly input: ({ readonly kind: 'schema' } & PlacedSchema) | { readonly kind: 'text' };
}

export type ToolChoice =
  | { readonly kind: 'none' | 'auto' | 'required' }
  | { readonly kind: 'named'; readonly name: string };

export type Format = { readonly kind: 'text' | 'json' } | ({ readonly kind: 'schema' } & PlacedSchema);

/** What a request asks for, independent of the dialect. */
export interface Ask {
  /** The last text of the last user turn; empty when it has none. */
  readonly userText: string;
  /** Tool results since the model's last message. */
  readonly toolResults: readonly string[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly format: Format;
  /** Maximum number of output tokens. */
  readonly outputCap?: number;
  readonly stops: readonly string[];
  readonly mayThink: boolean;
}
