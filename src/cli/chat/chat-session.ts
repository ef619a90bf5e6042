import type { GatewayAddress } from '../../client/call.ts';
import type { Prompt, PromptDialect, PromptPart, PromptTurn } from '../../client/conversation.ts';
import { textTurn } from '../../client/conversation.ts';
import type { GatewayAnswer } from '../../client/gateway.ts';
import { GatewayError } from '../../errors.ts';
import type { OpenConversation } from '../history/thread.ts';

/** Which model is asked, and how. */
export interface ChatSettings {
  readonly address: GatewayAddress;
  readonly model: string;
  readonly system: string | undefined;
  /** The command line's options for every question. */
  readonly fixed: Partial<Prompt>;
  /** From the command line; else the model's native dialect. */
  readonly dialectOf: (model: string) => PromptDialect;
  /** Where the conversation is saved; undefined if it is not. */
  readonly thread: OpenConversation | undefined;
}

/** Sends a prompt and shows its answer; returns the partial text if it was stopped. */
export type Ask = (
  address: GatewayAddress,
  prompt: Prompt & { readonly dialect: PromptDialect },
) => Promise<{ readonly answered: GatewayAnswer } | { readonly stopped: string }>;

export interface ChatUsage {
  readonly questions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An open conversation. */
export class ChatSession {
  model: string;
  system: string | undefined;
  usage: ChatUsage = { questions: 0, inputTokens: 0, outputTokens: 0 };
  readonly #settings: ChatSettings;
  #thread: OpenConversation | undefined;
  #turns: readonly PromptTurn[];
  #attached: readonly PromptPart[] = [];
  /** The text of the last question, if it failed or was stopped before its answer began. */
  #unanswered: string | undefined;

  constructor(settings: ChatSettings) {
    this.#settings = settings;
    this.model = settings.model;
    this.system = settings.system;
    this.#thread = settings.thread;
    this.#turns = settings.thread?.turns ?? [];
  }

  /** How many turns there are so far. */
  get length(): number {
    return this.#turns.length;
  }

  get turns(): readonly PromptTurn[] {
    return this.#turns;
  }

  get isKept(): boolean {
    return this.#thread !== undefined;
  }

  /** Attaches something to the next question. */
  attach(parts: readonly PromptPart[]): void {
    this.#attached = [...this.#attached, ...parts];
  }

  /** Asks, and adds question and answer to the conversation unless it fails. */
  async ask(text: string, ask: Ask): Promise<void> {
    const question: PromptTurn = { role: 'user', parts: [...this.#attached, { kind: 'text', text }] };
    this.#unanswered = text;
    if (!(await this.#goOn(question, ask))) return;
    this.#unanswered = undefined;
    this.#attached = [];
  }

  /**
   * Asks the last question again, in place of its answer if it has one. Throws usage.invalid if there is no question.
   */
  async retry(ask: Ask): Promise<void> {
    if (this.#unanswered !== undefined) return this.ask(this.#unanswered, ask);
    const at = this.#turns.findLastIndex(({ role }) => role === 'user');
    const question = this.#turns[at];
    if (question === undefined) throw new GatewayError('usage.invalid', 'there is no question to ask again');
    const before = this.#turns;
    this.#turns = this.#turns.slice(0, at);
    try {
      await this.#goOn(question, ask, () => this.#thread?.forgetLast());
    } catch (error) {
      this.#turns = before;
      throw error;
    }
  }

  /** Names the conversation. Throws usage.invalid if it is not saved, or another one has the name. */
  save(name: string): void {
    if (this.#thread === undefined) throw new GatewayError('usage.invalid', 'this conversation is not saved');
    if (this.length === 0) throw new GatewayError('usage.invalid', 'there is nothing to save yet');
    this.#thread.rename(name);
  }

  /** Leaves this conversation for another one. */
  switchTo(thread: OpenConversation): void {
    this.#thread?.close();
    this.#thread = thread;
    this.#turns = thread.turns;
    this.#unanswered = undefined;
    this.model = thread.model ?? this.model;
    this.system = thread.system;
  }

  close(): void {
    this.#thread?.close();
  }

  /** Returns whether the conversation has grown. */
  async #goOn(question: PromptTurn, ask: Ask, beforeKeeping: () => void = () => undefined): Promise<boolean> {
    const { address, fixed, dialectOf } = this.#settings;
    const { model, system } = this;
    const turns = [...this.#turns, question];
    const result = await ask(address, {
      ...fixed,
      model,
      system,
      turns,
      stream: true,
      dialect: dialectOf(model),
    });
    const reply = 'answered' in result ? result.answered.reply : undefined;
    const answer = 'answered' in result ? result.answered.reply.text : result.stopped;
    // An answer that was stopped before it began leaves no trace.
    if (reply === undefined && answer === '') return false;
    this.#turns = [...turns, textTurn('assistant', answer)];
    this.usage = {
      questions: this.usage.questions + 1,
      inputTokens: this.usage.inputTokens + (reply?.usage?.input_tokens ?? 0),
      outputTokens: this.usage.outputTokens + (reply?.usage?.output_tokens ?? 0),
    };
    beforeKeeping();
    this.#thread?.keep({ question, answer, requestId: reply?.request_id, model, system });
    return true;
  }
}
