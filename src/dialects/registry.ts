import { chat } from './chat/chat.ts';
import { type Dialect, type TextDialect, tableBetween } from './dialect.ts';
import { embeddings } from './embeddings/embeddings.ts';
import { geminiEmbeddings } from './gemini/embeddings.ts';
import { gemini } from './gemini/gemini.ts';
import { messages } from './messages/messages.ts';
import { fillModel, hasModel } from './model-path.ts';
import { responses } from './responses/responses.ts';

/** Every dialect the gateway speaks: to add one, write its folder and a line here. */
export const dialects = {
  messages,
  chat,
  responses,
  gemini,
  embeddings,
  gemini_embeddings: geminiEmbeddings,
} satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;

/** The dialects that can be translated. */
export type TextDialectName = {
  [Name in DialectName]: (typeof dialects)[Name] extends TextDialect ? Name : never;
}[DialectName];

/** What a request of the dialect can be translated to, the nearest first. */
export function alternativesTo(
  dialect: Dialect,
  all: Readonly<Record<string, Dialect>> = dialects,
): Dialect[] {
  const near = Object.keys(dialect.fieldsTo ?? {}).flatMap((name) => all[name] ?? []);
  const others = Object.values(all).filter((other) => !near.includes(other));
  return [...near, ...others].filter((other) => tableBetween(dialect, other) !== undefined);
}

/** The request target of a record, whose path has a mark where the model's name is; the path itself without a model. */
export function recordedTarget({ path, model = '' }: { path: string; model?: string | undefined }): string {
  const methods = Object.values<Dialect>(dialects).flatMap((dialect) => dialect.methods);
  const method = methods.find((each) => each.path === path);
  return method === undefined || !hasModel(method) || model === '' ? path : fillModel(method, model);
}
