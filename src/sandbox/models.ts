import type { ListedModel, ModelList } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';

const textKinds = ['mini', 'tool', 'think', 'slow', 'long', 'cut'] as const;

/** How a text model behaves. */
export type TextKind = (typeof textKinds)[number];

const embeddingModel = 'sandbox-embed';
// Any status from 400 to 599 works; the list has those that clients handle specially.
const listedErrors = ['sandbox-error-429', 'sandbox-error-500', 'sandbox-error-529'];
const textModels = textKinds.map((kind) => `sandbox-${kind}`);

/** Every model of the sandbox by its exact name, for model lists. */
export const sandboxModels: readonly { readonly id: string; readonly isEmbedding: boolean }[] = [
  ...[...textModels, ...listedErrors].map((id) => ({ id, isEmbedding: false })),
  { id: embeddingModel, isEmbedding: true },
];

/** The time of every answer, in seconds: with the clock in it, no two answers would have the same bytes. */
export const createdS = 1_735_689_600;

/** The status with which this model always fails. */
export function askedStatus(id: string): number | undefined {
  const status = /^sandbox-error-([45]\d\d)$/.exec(id)?.[1];
  return status === undefined ? undefined : Number(status);
}

/** A name that is not one of the sandbox's own is served as sandbox-mini. Throws model.unknown for one that only looks like one. */
export function textKind(id: string): TextKind {
  const kind = textKinds.find((each) => id === `sandbox-${each}`);
  if (kind !== undefined) return kind;
  if (!id.startsWith('sandbox-')) return 'mini';
  throw unknownModel(id === embeddingModel ? `${id} makes embeddings only` : noModel(id));
}

/** Throws model.unknown for the sandbox's other models, and for names that only look like them. */
export function checkEmbeddingModel(id: string): void {
  if (id === embeddingModel || !id.startsWith('sandbox-')) return;
  throw unknownModel(
    textModels.includes(id) ? `${id} makes no embeddings; ${embeddingModel} does` : noModel(id),
  );
}

/** The body of GET /v1/models, one list that the SDKs of both families read; or the list of a dialect that has its own. */
export function modelList(form?: ModelList): unknown {
  if (form !== undefined) return form.list(sandboxModels.map((model) => form.entry(toListed(model))));
  const data = sandboxModels.map(({ id }) => toEntry(id));
  return { object: 'list', data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id };
}

/** One of its entries. Throws model.unknown for a name that the list does not have. */
export function modelEntry(id: string, form?: ModelList): unknown {
  const found = sandboxModels.find((model) => model.id === id);
  if (found !== undefined) return form === undefined ? toEntry(id) : form.entry(toListed(found));
  throw unknownModel('there is no such model');
}

function toListed({ id }: { readonly id: string }): ListedModel {
  return { id, contextWindow: undefined, maxOutputTokens: undefined };
}

function toEntry(id: string) {
  return {
    id,
    object: 'model',
    created: createdS,
    owned_by: 'sandbox',
    type: 'model',
    display_name: id,
    created_at: new Date(createdS * 1_000).toISOString(),
  };
}

function noModel(id: string): string {
  return `there is no model ${JSON.stringify(id.slice(0, 100))}`;
}

function unknownModel(message: string): GatewayError {
  return new GatewayError('model.unknown', message, { param: 'model' });
}
