const before = 40;
const after = 80;

/** A piece of a text around the first place of what was looked for, on one line. */
export function excerptOf(text: string, wanted: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(wanted.toLowerCase()));
  const start = Math.max(0, at - before);
  const end = Math.min(text.length, at + wanted.length + after);
  // Without half of a character at either end.
  const piece = text
    .slice(start, end)
    .replace(/[\s\p{Cs}]+/gu, ' ')
    .trim();
  return `${start > 0 ? '…' : ''}${piece}${end < text.length ? '…' : ''}`;
}

/** A conversation that is kept, without its turns. */
export interface KeptConversation {
  readonly id: number;
  /** What the user calls it, where it has a name. */
  readonly name: string | null;
  readonly model: string;
  readonly system: string | null;
  readonly startedMs: number;
  readonly updatedMs: number;
  readonly turns: number;
  /** How the first question begins. */
  readonly beginning: string;
}

export interface NewConversation {
  readonly name?: string | undefined;
  readonly model: string;
  readonly system?: string | undefined;
}

export interface NewTurn {
  readonly role: 'user' | 'assistant';
  /** What is shown and searched. */
  readonly text: string;
  /** JSON of all that was sent, where that is more than the text. */
  readonly parts?: string | undefined;
  readonly model?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface KeptTurn extends NewTurn {
  readonly id: number;
  readonly atMs: number;
}

/** A turn in which a text was found. */
export interface FoundTurn {
  readonly conversation: number;
  readonly name: string | null;
  readonly role: string;
  readonly atMs: number;
  readonly requestId: string | null;
  /** The text around what was found. */
  readonly excerpt: string;
}
