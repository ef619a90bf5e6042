import { Refusal } from './refusal.ts';

type TextKind = 'mini' | 'tool' | 'think' | 'slow' | 'long' | 'cut';

/** A text model; its kind defines how it behaves. */
export interface TextModel {
  readonly id: string;
  readonly kind: TextKind;
}

interface SandboxModel {
  readonly id: string;
  readonly isEmbedding: boolean;
}

const textKinds: readonly TextKind[] = ['mini', 'tool', 'think', 'slow', 'long', 'cut'];
const textModels: ReadonlyMap<string, TextModel> = new Map(
  textKinds.map((kind) => [`sandbox-${kind}`, { id: `sandbox-${kind}`, kind }]),
);
const embeddingModel = 'sandbox-embed';
// Any status from 400 to 599 works; the list has those that clients handle specially.
const listedErrors = ['sandbox-error-429', 'sandbox-error-500', 'sandbox-error-529'];

/** Every model of the sandbox by its exact name, for model lists. */
export const sandboxModels: readonly SandboxModel[] = [
  ...[...textModels.keys(), ...listedErrors].map((id) => ({ id, isEmbedding: false })),
  { id: embeddingModel, isEmbedding: true },
];

/** Throws the failure that `sandbox-error-NNN` stands for; every other name passes. */
export function failIfAsked(id: string): void {
  const status = /^sandbox-error-([45]\d\d)$/.exec(id)?.[1];
  if (status === undefined) return;
  throw new Refusal(Number(status), `${id} always fails with status ${status}`);
}

/** A name that is not one of the sandbox's own is served as sandbox-mini. Throws 404 for one that only looks like one. */
export function findTextModel(id: string): TextModel {
  const model = textModels.get(id);
  if (model !== undefined) return model;
  if (!id.startsWith('sandbox-')) return { id, kind: 'mini' };
  throw unknownModel(
    id === embeddingModel ? `${id} makes embeddings only` : `there is no model ${quote(id)}`,
  );
}

/** Throws 404 for the sandbox's other models and names that only look like them. */
export function checkEmbeddingModel(id: string): void {
  if (id === embeddingModel || !id.startsWith('sandbox-')) return;
  throw unknownModel(
    textModels.has(id)
      ? `${id} makes no embeddings; ${embeddingModel} does`
      : `there is no model ${quote(id)}`,
  );
}

/** Whether `GET /v1/models/{id}` has an answer. */
export function isListed(id: string): boolean {
  return sandboxModels.some((model) => model.id === id);
}

export function unknownModel(message: string): Refusal {
  return new Refusal(404, message, { path: ['model'], code: 'model_not_found' });
}

function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
