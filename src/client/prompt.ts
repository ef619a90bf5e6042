// Doesn't use the registry of dialects: their translations would double what every `send` has to load.
import { parseChatUsage } from '../dialects/chat/usage.ts';
import { toFields, toList, toText } from '../dialects/fields.ts';
import { parseGeminiUsage } from '../dialects/gemini/usage.ts';
import { generate, streamGenerate } from '../dialects/gemini/wire.ts';
import { parseMessagesEventUsage } from '../dialects/messages/usage.ts';
import { fillModel } from '../dialects/model-path.ts';
import { parseResponsesUsage } from '../dialects/responses/usage.ts';
import type { Usage } from '../dialects/usage.ts';
import type { Prompt, PromptDialect } from './conversation.ts';

/** The path for prompts in a dialect, and where its answers contain their text. */
interface Phrasing {
  path(prompt: Pick<Prompt, 'model' | 'stream'>): string;
  /** The text that a stream's event adds. */
  deltaText(event: unknown): string;
  /** The finish reason in a stream's event or a whole answer. */
  finishReason(value: unknown): string | undefined;
  answerText(answer: unknown): string;
  /** The usage known after a stream's event or a whole answer. */
  usage(value: unknown, known?: Usage): Usage | undefined;
}

export const phrasings: Readonly<Record<PromptDialect, Phrasing>> = {
  messages: {
    path: () => '/v1/messages',
    deltaText: (event) => toText(toFields(toFields(event).delta).text),
    finishReason: (value) =>
      reasonOf(toFields(toFields(value).delta).stop_reason ?? toFields(value).stop_reason),
    answerText: (answer) => joinTexts(toFields(answer).content),
    usage: (value, known) => parseMessagesEventUsage(toFields(value), known),
  },
  chat: {
    path: () => '/v1/chat/completions',
    deltaText: (event) => toText(toFields(firstChoice(event).delta).content),
    finishReason: (value) => reasonOf(firstChoice(value).finish_reason),
    answerText: (answer) => toText(toFields(firstChoice(answer).message).content),
    usage: (value, known) => parseChatUsage(toFields(value)) ?? known,
  },
  responses: {
    path: () => '/v1/responses',
    deltaText: (event) =>
      toFields(event).type === 'response.output_text.delta' ? toText(toFields(event).delta) : '',
    finishReason: (value) => {
      const answer = toFields(toFields(value).response ?? value);
      return reasonOf(toFields(answer.incomplete_details).reason ?? answer.status);
    },
    answerText: (answer) =>
      toList(toFields(answer).output)
        .map((item) => joinTexts(toFields(item).content))
        .join(''),
    usage: (value, known) => parseResponsesUsage(toFields(toFields(value).response ?? value)) ?? known,
  },
  gemini: {
    path: ({ model, stream }) => fillModel(stream ? streamGenerate : generate, model),
    deltaText: geminiText,
    finishReason: (value) => reasonOf(firstCandidate(value).finishReason),
    answerText: geminiText,
    usage: (value, known) => parseGeminiUsage(toFields(value).usageMetadata) ?? known,
  },
};

function firstCandidate(value: unknown): Readonly<Record<string, unknown>> {
  return toFields(toList(toFields(value).candidates)[0]);
}

/** Without its thoughts. */
function geminiText(value: unknown): string {
  const parts = toList(toFields(firstCandidate(value).content).parts);
  return joinTexts(parts.filter((part) => toFields(part).thought !== true));
}

function firstChoice(value: unknown): Readonly<Record<string, unknown>> {
  return toFields(toList(toFields(value).choices)[0]);
}

function joinTexts(blocks: unknown): string {
  return toList(blocks)
    .map((block) => toText(toFields(block).text))
    .join('');
}

function reasonOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
