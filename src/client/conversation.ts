export const promptDialects = ['messages', 'chat', 'responses', 'gemini'] as const;
export type PromptDialect = (typeof promptDialects)[number];

/** A part of what was written or attached; `data` is base64. */
export type PromptPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'pdf'; readonly name: string; readonly data: string }
  | { readonly kind: 'audio'; readonly format: 'wav' | 'mp3'; readonly data: string };

export interface PromptTurn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly PromptPart[];
}

/** A prompt, independent of the dialect. */
export interface Prompt {
  readonly model: string;
  /** The last one is the user's. */
  readonly turns: readonly PromptTurn[];
  readonly system?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  /** JSON Schema that the answer must satisfy. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Further fields of the request, in the dialect's own form, by path. */
  readonly fields?: readonly PromptField[] | undefined;
  readonly stream: boolean;
}

export interface PromptField {
  readonly path: readonly string[];
  readonly value: unknown;
}

export function textTurn(role: PromptTurn['role'], text: string): PromptTurn {
  return { role, parts: [{ kind: 'text', text }] };
}
