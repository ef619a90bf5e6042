import { traitsOf } from '../../hosts/find-host.ts';
import type { HostTraits } from '../../hosts/traits.ts';
import type { ContentPart, ConversationRequest, Turn } from '../conversation.ts';
import { type Dropped, noteDropped, unsupported } from '../fields.ts';
import type { TranslationContext } from './context.ts';

/** A picture or a document. */
export type MediaPart = Exclude<ContentPart, { kind: 'text' }>;

interface Replacing {
  readonly context: TranslationContext;
  /** Why the provider can't take a part; undefined if it can. */
  readonly cannotTake: (part: MediaPart, context: TranslationContext) => string | undefined;
  readonly dropped: Dropped;
}

/**
 * The request with a sentence in place of each part that the provider can't take: agents send what they have read again in
 * every turn, so a refusal would end the conversation. Throws request.unsupported where the configuration wants that.
 */
export function replaceUnsupported(request: ConversationRequest, replacing: Replacing): ConversationRequest {
  const { context, cannotTake, dropped } = replacing;
  const traits = traitsOf(context);

  const replace = (part: ContentPart): ContentPart => {
    if (part.kind === 'text') return part;
    const why = cannotTakePicture(part, traits) ?? cannotTake(part, context);
    if (why === undefined) return part;
    if (context.unsupportedContent === 'refuse') throw unsupported(part.path, why);
    noteDropped(dropped, part.path);
    return { kind: 'text', text: `[${describe(part)}: ${why}]` };
  };
  const replaceIn = (turn: Turn): Turn => {
    if (turn.role === 'user') return { ...turn, parts: turn.parts.map(replace) };
    if (turn.role !== 'results') return turn;
    return {
      ...turn,
      results: turn.results.map((result) => ({ ...result, parts: result.parts.map(replace) })),
    };
  };
  return withoutOwnTools({ ...request, turns: request.turns.map(replaceIn) }, context);
}

/** Why a host refuses such a picture, in any dialect. */
function cannotTakePicture(
  { kind, source }: MediaPart,
  { images, imageUrls }: HostTraits,
): string | undefined {
  if (kind !== 'image') return undefined;
  if (images !== 'any' && images.length === 0) return 'this model takes no pictures';
  if (source.kind === 'url' && !imageUrls)
    return 'this host reads no addresses, only pictures inside the request';
  if (source.kind !== 'base64' || images === 'any' || images.includes(source.mediaType)) return undefined;
  return `this model takes only ${images.map((type) => type.slice('image/'.length)).join(', ')}`;
}

/** Without functions the model can call nothing: the prompt says so, and the model can report it. */
function withoutOwnTools(request: ConversationRequest, context: TranslationContext): ConversationRequest {
  const { tools, ownTools = [] } = request;
  if (tools.length > 0 || ownTools.length === 0) return request;
  const why = 'this model cannot run the tools of another provider, and there are no others';
  if (context.unsupportedContent === 'refuse') throw unsupported('tools', why);
  const text = `[${ownTools.join(', ')}: not available at this model]`;
  return { ...request, system: [...request.system, { role: 'system', isDeveloper: false, text }] };
}

function describe(part: MediaPart): string {
  const name = part.kind === 'document' && part.name !== undefined ? ` ${part.name}` : '';
  const pages = part.kind === 'document' ? countPages(part) : 0;
  return `${part.kind}${name}${pages === 0 ? '' : pages === 1 ? ', 1 page' : `, ${pages} pages`}`;
}

/** 0 if unknown: newer PDF files may compress the page tree. */
function countPages({ source }: MediaPart): number {
  if (source.kind !== 'base64' || source.mediaType !== 'application/pdf') return 0;
  const text = Buffer.from(source.data, 'base64').toString('latin1');
  return text.match(/\/Type ?\/Page(?![a-zA-Z])/g)?.length ?? 0;
}
