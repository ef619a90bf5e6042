import { toFields } from '../dialects/fields.ts';
import { dialects } from '../dialects/registry.ts';
import type { Usage } from '../dialects/usage.ts';

export const promptDialects = ['messages', 'chat', 'responses'] as const;
export type PromptDialect = (typeof promptDialects)[number];

export interface Prompt {
  readonly model: string;
  readonly text: string;
  readonly system?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly stream: boolean;
}

/** How a one-off prompt is asked in a dialect, and where its answers keep their text. */
interface Phrasing {
  body(prompt: Prompt): object;
  /** The text that a stream's event adds. */
  deltaText(event: unknown): string;
  /** The reason a stream's event or a whole answer gives for the end. */
  finishReason(value: unknown): string | undefined;
  answerText(answer: unknown): string;
}

// Anthropic wants a limit on every request.
const defaultMaxTokens = 4_096;

export const phrasings: Readonly<Record<PromptDialect, Phrasing>> = {
  messages: {
    body: ({ model, text, system, maxTokens, stream }) => ({
      model,
      max_tokens: maxTokens ?? defaultMaxTokens,
      ...(system === undefined ? {} : { system }),
      messages: [{ role: 'user', content: text }],
      ...(stream ? { stream } : {}),
    }),
    deltaText: (event) => textOf(toFields(toFields(event).delta).text),
    finishReason: (value) =>
      reasonOf(toFields(toFields(value).delta).stop_reason ?? toFields(value).stop_reason),
    answerText: (answer) => joinTexts(toFields(answer).content),
  },
  chat: {
    body: ({ model, text, system, maxTokens, stream }) => ({
      model,
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: text },
      ],
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    }),
    deltaText: (event) => textOf(toFields(firstChoice(event).delta).content),
    finishReason: (value) => reasonOf(firstChoice(value).finish_reason),
    answerText: (answer) => textOf(toFields(firstChoice(answer).message).content),
  },
  responses: {
    body: ({ model, text, system, maxTokens, stream }) => ({
      model,
      ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
      ...(system === undefined ? {} : { instructions: system }),
      input: text,
      ...(stream ? { stream } : {}),
    }),
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
  },
};

export function pathOf(dialect: PromptDialect): string {
  return dialects[dialect].path;
}

export function usageOf(dialect: PromptDialect, answer: unknown): Usage | undefined {
  return dialects[dialect].answerUsage(answer);
}

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
