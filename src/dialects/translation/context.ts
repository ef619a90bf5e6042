import type { Host } from '../../hosts/find-host.ts';
import { type Effort, nearestEffort, takesReasoningEffort } from '../../hosts/models.ts';
import type { ConversationRequest } from '../conversation.ts';
import { type Dropped, noteDropped } from '../fields.ts';

/** The context of a translation: everything that pure code can't find out by itself. */
export interface TranslationContext {
  /** The name the client asked for; answers carry it. */
  readonly requestedModel: string;
  /** The model's name at the provider. */
  readonly targetModel: string;
  /** The host that gets the request. */
  readonly host: Host;
  /** The provider, as its seals name it (`sealOrigin`). */
  readonly origin: string;
  /** The model's limit where configured or known: larger requests are lowered to it. */
  readonly maxOutputTokens?: number;
  /** The limit that is sent where the client sent none and the provider needs one. */
  readonly defaultMaxOutputTokens?: number;
  /** The largest cap that the model takes and no rule or limit objects to, as far as is known. */
  readonly outputCeiling?: number;
  /** Set if no breakpoints for the cache are put into bodies for hosts that want them. */
  readonly promptCache?: 'off';
  /** What becomes of pictures, documents and tools that the provider can't take; by default a sentence in their place. */
  readonly unsupportedContent?: 'refuse';
  /** A fresh id that begins with the prefix, for example `newId('msg_')`. */
  readonly newId: (prefix: string) => string;
  /** Whether the answer is streamed, if the client's body doesn't say. */
  readonly isStreaming?: boolean;
  /** Unix seconds, for the `created` of answers. */
  readonly createdS: number;
}

/** The effort if the model takes one; otherwise it is noted as dropped. */
export function acceptedEffort(
  { effort }: Pick<ConversationRequest, 'effort'>,
  target: TranslationContext,
  dropped: Dropped,
): Effort | undefined {
  if (effort === undefined) return undefined;
  if (takesReasoningEffort(target)) return nearestEffort(effort, target);
  noteDropped(dropped, 'reasoning effort');
  return undefined;
}

/** In tokens; written into a client's own bytes if its host needs a cap on output and none is set. */
export const defaultCap = 4_096;

/** The same for a request that is translated, whose client knows no such cap: thinking may take most of a small one. */
export const translatedCap = 32_000;

/** OpenAI's Responses refuse a smaller cap; clients ask for one token to see whether a model answers at all. */
export const minResponsesCap = 16;

/** Messages must carry a limit, whether the client sent one or not. */
export function defaultMaxTokens({ defaultMaxOutputTokens, maxOutputTokens }: TranslationContext): number {
  return defaultMaxOutputTokens ?? maxOutputTokens ?? translatedCap;
}

export function clampMaxTokens(requested: number | undefined, limit: number | undefined): number | undefined {
  if (requested === undefined || limit === undefined) return requested;
  return Math.min(requested, limit);
}
