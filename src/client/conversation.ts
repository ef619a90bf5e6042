export const promptDialects = ['messages', 'chat', 'responses'] as const;
export type PromptDialect = (typeof promptDialects)[number];

/** A piece of what somebody wrote or attached; `data` is base64. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'pdf'; readonly name: string; readonly data: string }
  | { readonly kind: 'audio'; readonly format: 'wav' | 'mp3'; readonly data: string };

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/** What is asked, whatever the dialect. */
export interface Prompt {
  readonly model: string;
  /** The last one is the user's. */
  readonly turns: readonly Turn[];
  readonly system?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  /** JSON Schema that the answer has to follow. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Further fields of the request as the dialect has them, by path. */
  readonly fields?: readonly PromptField[] | undefined;
  readonly stream: boolean;
}

export interface PromptField {
  readonly path: readonly string[];
  readonly value: unknown;
}

export function textTurn(role: Turn['role'], text: string): Turn {
  return { role, parts: [{ kind: 'text', text }] };
}
