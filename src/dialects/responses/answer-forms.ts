import { type Fields, isFields, toFields, toList, toText } from '../fields.ts';
import { type SseEvent, toEvent } from '../sse.ts';

/** The events that say the same as a whole response. */
export function responsesEvents(answer: Fields): readonly SseEvent[] {
  let sequence_number = 0;
  const event = (type: string, fields: object) =>
    toEvent({ type, sequence_number: sequence_number++, ...fields }, type);
  const status = toText(answer.status) || 'completed';
  return [
    event('response.created', { response: { ...answer, status: 'in_progress', output: [], usage: null } }),
    ...toList(answer.output).flatMap((value, output_index) => {
      const item = toFields(value);
      const at = { item_id: item.id, output_index };
      const texts = toList(item.content).flatMap((value, content_index) => {
        const part = toFields(value);
        const place = { ...at, content_index };
        const kind = part.type === 'refusal' ? 'refusal' : 'text';
        if (part.type !== 'refusal' && part.type !== 'output_text') return [];
        return [
          event('response.content_part.added', { ...place, part: { ...part, [kind]: '' } }),
          event(`response.${kind === 'text' ? 'output_text' : kind}.delta`, { ...place, delta: part[kind] }),
          event('response.content_part.done', { ...place, part }),
        ];
      });
      const input =
        item.type === 'function_call'
          ? [event('response.function_call_arguments.delta', { ...at, delta: item.arguments })]
          : [];
      const begun = { ...item, ...(item.type === 'message' && { content: [] }) };
      const added = { ...begun, ...(item.type === 'function_call' && { arguments: '' }) };
      return [
        event('response.output_item.added', { output_index, item: added }),
        ...texts,
        ...input,
        event('response.output_item.done', { output_index, item }),
      ];
    }),
    event(`response.${status}`, { response: { ...answer, status } }),
  ];
}

/** The response that the events of a stream say: ChatGPT's host sends its items in events only. */
export function wholeResponse(events: readonly Fields[]): Fields {
  const response = toFields(events.findLast((event) => isFields(event.response))?.response);
  const done = events.filter((event) => event.type === 'response.output_item.done');
  return toList(response.output).length > 0
    ? response
    : { ...response, output: done.map(({ item }) => item) };
}
