import { type Fields, toFields, toList, toText } from '../fields.ts';
import { type SseEvent, toEvent } from '../sse.ts';
import { toArgumentsObject } from '../translation/tool-names.ts';

/** The events that say the same as a whole message. */
export function messagesEvents({
  content,
  stop_reason,
  stop_sequence,
  usage,
  ...message
}: Fields): SseEvent[] {
  const event = (type: string, fields: object = {}) => toEvent({ type, ...fields }, type);
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
  return [
    event('message_start', { message: begun }),
    ...toList(content).flatMap((value, index) => {
      const { start, deltas } = pieces(toFields(value));
      return [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ];
    }),
    event('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    event('message_stop'),
  ];
}

function pieces(block: Fields): { start: Fields; deltas: readonly Fields[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === 'text') return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text }] };
  if (type === 'thinking') {
    const deltas = [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ];
    return { start: { ...block, thinking: '', signature: '' }, deltas };
  }
  if (input === undefined) return { start: block, deltas: [] };
  const partial_json = JSON.stringify(input);
  return { start: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
}

/** The message that the events of a stream say. */
export function wholeMessage(events: readonly Fields[]): Fields {
  const message: Record<string, unknown> = {};
  const usage: Record<string, unknown> = {};
  const blocks: GatheredBlock[] = [];
  const byIndex = new Map<unknown, GatheredBlock>();
  const begin = (index: unknown, start: Fields) => {
    const block: GatheredBlock = { fields: { ...start }, citations: [...toList(start.citations)], input: '' };
    blocks.push(block);
    byIndex.set(index, block);
    return block;
  };
  for (const event of events) {
    const delta = toFields(event.delta);
    if (event.type === 'content_block_start') begin(event.index, toFields(event.content_block));
    if (event.type === 'content_block_delta')
      addPieces(byIndex.get(event.index) ?? begin(event.index, {}), delta);
    if (event.type !== 'message_start' && event.type !== 'message_delta') continue;
    const said = event.type === 'message_start' ? toFields(event.message) : delta;
    Object.assign(message, said);
    Object.assign(usage, toFields(said.usage ?? event.usage));
  }
  return { ...message, content: blocks.map(wholeBlock), usage };
}

interface GatheredBlock {
  readonly fields: Record<string, unknown>;
  readonly citations: unknown[];
  /** Of a call, as text. */
  input: string;
}

function addPieces(block: GatheredBlock, { type: _, partial_json, citation, ...texts }: Fields): void {
  const { fields } = block;
  block.input += toText(partial_json);
  if (citation !== undefined) block.citations.push(citation);
  for (const [name, value] of Object.entries(texts))
    fields[name] = typeof value === 'string' ? toText(fields[name]) + value : value;
}

/** The input of a call that was cut is kept as a translation keeps it. */
function wholeBlock({ fields, citations, input }: GatheredBlock): Fields {
  return {
    ...fields,
    ...(citations.length > 0 && { citations }),
    ...(input !== '' && { input: toArgumentsObject({ kind: 'function', input }) }),
  };
}
