import type { PromptPart, PromptTurn } from '../../client/conversation.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import type { KeptConversation, KeptTurn, NewTurn } from '../../history/conversation-row.ts';
import type { History } from '../../history/history.ts';
import { checkHistoryAllowed } from '../send/prompt-options.ts';
import type { Io } from '../shell/io.ts';
import { openUserHistory } from './open-history.ts';

/** The conversation that a prompt continues: its turns so far, and where to save the next ones. */
export interface OpenConversation {
  readonly turns: readonly PromptTurn[];
  readonly model?: string;
  readonly system?: string;
  /** Saves a question with its answer. Throws output.failed if it can't be written. */
  keep(exchange: KeptExchange): void;
  /** Deletes the last question and its answer. */
  forgetLast(): void;
  /** Throws usage.invalid if another conversation has the name. */
  rename(name: string): void;
  /** Earlier questions, newest first, for the line editor's history. */
  questions(): readonly string[];
  close(): void;
}

interface KeptExchange {
  readonly question: PromptTurn;
  readonly answer: string;
  readonly requestId?: string | null | undefined;
  /** The model that was asked; a new conversation is created with it. */
  readonly model: string;
  readonly system?: string | undefined;
}

export interface WantedThread {
  /** The conversation that was continued last. */
  readonly continue?: true | undefined;
  /** The conversation of this name, created if there is none. */
  readonly in?: string | undefined;
  readonly mustExist?: true;
}

/** Opens the requested conversation. Throws usage.invalid if there is none, or none may be saved. */
export async function openThread(wanted: WantedThread, { env }: Pick<Io, 'env'>): Promise<OpenConversation> {
  checkHistoryAllowed(env);
  const history = await openUserHistory(env);
  try {
    const found = wanted.in === undefined ? continued(wanted, history) : history.named(checkName(wanted.in));
    if (found === undefined && wanted.mustExist === true) {
      throw new GatewayError('log.unknown', `there is no conversation ${wanted.in}`);
    }
    return createThread(history, found, wanted.in);
  } catch (error) {
    history.close();
    throw error;
  }
}

/** Throws usage.invalid for a name that could be mistaken for the id of a conversation or a request. */
function checkName(name: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(name) && !/^(?:c\d+|req_.*)$/.test(name)) return name;
  const message = 'a name is made of up to 64 letters, digits, dots, dashes and _';
  throw new GatewayError('usage.invalid', `${JSON.stringify(name)} can't name a conversation: ${message}`);
}

function continued({ continue: isContinued }: WantedThread, history: History): KeptConversation | undefined {
  if (isContinued !== true) return undefined;
  const last = history.last();
  if (last !== undefined) return last;
  const message = 'there is no conversation to continue: "send" saves none unless asked to';
  throw new GatewayError('usage.invalid', `${message}; begin one with --in NAME, or with "gateway chat"`);
}

function createThread(
  history: History,
  found: KeptConversation | undefined,
  name: string | undefined,
): OpenConversation {
  let id = found?.id;
  return {
    turns: found === undefined ? [] : history.turns(found.id).map(toTurn),
    ...(found !== undefined && { model: found.model }),
    ...(typeof found?.system === 'string' && { system: found.system }),
    keep: ({ question, answer, requestId, model, system }) => {
      const request = typeof requestId === 'string' ? { requestId } : {};
      const turns: NewTurn[] = [
        { ...toNewTurn(question), ...request },
        { role: 'assistant', text: answer, model, ...request },
      ];
      writing(() => {
        id = history.append(id ?? { name, model, system }, turns);
      });
    },
    forgetLast: () => {
      if (id !== undefined) writing(() => history.forgetLast(id ?? 0));
    },
    rename: (wanted) => {
      checkName(wanted);
      const other = history.named(wanted);
      if (other !== undefined && other.id !== id) {
        throw new GatewayError('usage.invalid', `there is another conversation ${wanted}`);
      }
      if (id !== undefined) writing(() => history.rename(id ?? 0, wanted));
    },
    questions: () => history.questions(rememberedQuestions),
    close: () => history.close(),
  };
}

function toTurn({ role, text, parts }: KeptTurn): PromptTurn {
  return { role, parts: parts === undefined ? [{ kind: 'text', text }] : parseParts(parts, text) };
}

const rememberedQuestions = 100;

function writing(work: () => void): void {
  try {
    work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('output.failed', `the conversation could not be saved: ${why}`, { cause });
  }
}

/** The parts as this version wrote them; just the text if the file was tampered with. */
function parseParts(json: string, text: string): readonly PromptPart[] {
  const parts: unknown = JSON.parse(json);
  const isReadable = Array.isArray(parts) && parts.every((part) => typeof toFields(part).kind === 'string');
  return isReadable ? (parts as readonly PromptPart[]) : [{ kind: 'text', text }];
}

function toNewTurn({ role, parts }: PromptTurn): NewTurn {
  const isText = parts.every(({ kind }) => kind === 'text');
  return { role, text: describeParts(parts), ...(isText ? {} : { parts: JSON.stringify(parts) }) };
}

/** Describes attachments by their kind. */
export function describeParts(parts: readonly PromptPart[]): string {
  return parts.map(describePart).join('\n\n');
}

function describePart(part: PromptPart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'image':
      return `[${part.mediaType}]`;
    case 'pdf':
      return `[${part.name}]`;
    case 'audio':
      return `[${part.format} audio]`;
  }
}
