// Doesn't use the registry of dialects: their translations would double what every `send` has to load.
import { parseChatUsage } from '../dialects/chat/usage.ts';
import { toFields } from '../dialects/fields.ts';
import { parseMessagesEventUsage, parseMessagesUsage } from '../dialects/messages/usage.ts';
import { parseResponsesUsage } from '../dialects/responses/usage.ts';
import type { Usage } from '../dialects/usage.ts';
import type { PromptDialect } from './conversation.ts';

/** The path for prompts in a dialect, and where its answers contain their text. */
interface Phrasing {
  readonly path: string;
  /** The text that a stream's event adds. */
  deltaText(event: unknown): string;
  /** The finish reason in a stream's event or a whole answer. */
  finishReason(value: unknown): string | undefined;
  answerText(answer: unknown): string;
  answerUsage(answer: unknown): Usage | undefined;
  /** The usage known after a stream's event. */
  eventUsage(event: unknown, known: Usage | undefined): Usage | undefined;
}

export const phrasings: Readonly<Record<PromptDialect, Phrasing>> = {
  messages: {
    path: '/v1/messages',
    deltaText: (event) => textOf(toFields(toFields(event).delta).text),
    finishReason: (value) =>
      reasonOf(toFields(toFields(value).delta).stop_reason ?? toFields(value).stop_reason),
    answerText: (answer) => joinTexts(toFields(answer).content),
    answerUsage: (answer) => parseMessagesUsage(toFields(answer).usage),
    eventUsage: (event, known) => parseMessagesEventUsage(toFields(event), known),
  },
  chat: {
    path: '/v1/chat/completions',
    deltaText: (event) => textOf(toFields(firstChoice(event).delta).content),
    finishReason: (value) => reasonOf(firstChoice(value).finish_reason),
    answerText: (answer) => textOf(toFields(firstChoice(answer).message).content),
    answerUsage: (answer) => parseChatUsage(toFields(answer).usage),
    eventUsage: (event, known) => parseChatUsage(toFields(event).usage) ?? known,
  },
  responses: {
    path: '/v1/responses',
    deltaText: (event) =>
      toFields(event).type === 'response.output_text.delta' ? textOf(toFields(event).delta) : '',
    finishReason: (value) => {
      const answer = toFields(toFields(value).response ?? value);
      return reasonOf(toFields(answer.incomplete_details).reason ?? answer.status);
    },
    answerText: (answer) =>
      (Array.isArray(toFields(answer).output) ? (toFields(answer).output as unknown[]) : [])
        .map((item) => joinTexts(toFields(item).content))
        .join(''),
    answerUsage: (answer) => parseResponsesUsage(toFields(answer).usage),
    eventUsage: (event, known) => parseResponsesUsage(toFields(toFields(event).response).usage) ?? known,
  },
};

function firstChoice(value: unknown): Readonly<Record<string, unknown>> {
  const { choices } = toFields(value);
  return toFields(Array.isArray(choices) ? choices[0] : undefined);
}

function joinTexts(blocks: unknown): string {
  return Array.isArray(blocks) ? blocks.map((block) => textOf(toFields(block).text)).join('') : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function reasonOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
