import type { Answer } from '../ask.ts';
import { type Frame, namedFrame, type Payload } from '../reply.ts';
import { slices } from '../tokens.ts';
import type { Item, ResponseBody } from './responses-body.ts';

interface Stream {
  readonly started: ResponseBody;
  readonly ended: ResponseBody;
  readonly items: readonly Item[];
  readonly answer: Answer;
}

/** The events of a streamed response, numbered from 0. */
export function* responsesFrames(stream: Stream): Generator<Frame> {
  let sequence = 0;
  for (const payload of payloads(stream)) {
    const kind = payload.type.endsWith('.delta') ? 'delta' : 'other';
    yield namedFrame({ ...payload, sequence_number: sequence }, kind);
    sequence += 1;
  }
}

function* payloads({ started, ended, items, answer }: Stream): Generator<Payload> {
  yield { type: 'response.created', response: started };
  yield { type: 'response.in_progress', response: started };
  for (const [output_index, item] of items.entries()) {
    yield { type: 'response.output_item.added', output_index, item: toStarted(item) };
    yield* itemPayloads(item, output_index, answer.deltaLength);
    yield { type: 'response.output_item.done', output_index, item };
  }
  yield { type: `response.${ended.status}`, response: ended };
}

function toStarted(item: Item) {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
  }
}

function* itemPayloads(item: Item, output_index: number, length: number): Generator<Payload> {
  const at = { item_id: item.id, output_index };
  switch (item.type) {
    case 'message': {
      const [part] = item.content;
      const place = { ...at, content_index: 0 };
      yield { type: 'response.content_part.added', ...place, part: { ...part, text: '' } };
      for (const delta of slices(part.text, length)) {
        yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] };
      }
      yield { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] };
      yield { type: 'response.content_part.done', ...place, part };
      return;
    }
    case 'reasoning': {
      const [part] = item.summary;
      const place = { ...at, summary_index: 0 };
      yield { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } };
      for (const delta of slices(part.text, length)) {
        yield { type: 'response.reasoning_summary_text.delta', ...place, delta };
      }
      yield { type: 'response.reasoning_summary_text.done', ...place, text: part.text };
      yield { type: 'response.reasoning_summary_part.done', ...place, part };
      return;
    }
    case 'function_call': {
      const { name, arguments: written } = item;
      for (const delta of slices(written, length)) {
        yield { type: 'response.function_call_arguments.delta', ...at, delta };
      }
      yield { type: 'response.function_call_arguments.done', ...at, name, arguments: written };
      return;
    }
    case 'custom_tool_call':
      for (const delta of slices(item.input, length)) {
        yield { type: 'response.custom_tool_call_input.delta', ...at, delta };
      }
      yield { type: 'response.custom_tool_call_input.done', ...at, input: item.input };
  }
}
