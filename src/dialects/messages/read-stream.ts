import type { StreamReader, StreamSink } from '../conversation.ts';
import { errorInside, parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, parseEventData, stringifyAnswer, toFields, toText } from '../fields.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { createThoughtDigest, digestOf, signedText } from '../translation/seals.ts';
import type { Usage } from '../usage.ts';
import { parseMessagesEventUsage } from './usage.ts';

/** Reads a provider's Messages stream. The payload's `type` counts; the event's name only repeats it. */
export function createMessagesReader(sink: StreamSink): StreamReader {
  const blocks = createMessagesBlocks(sink);
  let usage: Usage | undefined;
  let stop: Fields = {};

  function readUsage(event: Fields): void {
    usage = parseMessagesEventUsage(event, usage);
    if (usage !== undefined) sink.usage(usage);
  }

  function read(event: Fields): void {
    switch (event.type) {
      case 'message_start':
        readUsage(event);
        return;
      case 'content_block_start':
        blocks.start(toFields(event.content_block));
        return;
      case 'content_block_delta':
        blocks.delta(toFields(event.delta));
        return;
      case 'content_block_stop':
        blocks.stop();
        return;
      case 'message_delta':
        stop = toFields(event.delta);
        readUsage(event);
        return;
      case 'message_stop':
        sink.complete(
          parseFinishWord(stop.stop_reason, blocks.hasCalls()),
          toText(stop.stop_sequence) || undefined,
        );
        return;
      case 'ping':
        sink.ping();
    }
  }

  return {
    event(_name, data) {
      if (data === '') return;
      const event = parseEventData(data);
      if (errorInside(event) !== undefined) {
        sink.fail(parseFailure(event));
        return;
      }
      sink.start();
      read(event);
    },
    end() {
      throw brokenAnswer('ended before its last event');
    },
  };
}

/** The content blocks of a Messages stream; one is open at a time. */
function createMessagesBlocks(sink: StreamSink) {
  let calls = 0;
  let isCallOpen = false;
  /** Of the thought that is open, if it has a text, with its signature. */
  let digest: ReturnType<typeof createThoughtDigest> | undefined;
  let signature = '';

  function say(kind: 'text' | 'thinking', piece: unknown): void {
    if (typeof piece !== 'string' || piece === '') return;
    if (kind === 'thinking') {
      digest ??= createThoughtDigest();
      digest.add(piece);
    }
    sink[kind](piece);
  }

  function startCall(block: Fields): void {
    isCallOpen = true;
    sink.callStart({ index: calls, id: toText(block.id), name: toText(block.name), kind: 'function' });
    // Anthropic sends `{}` here and the input as deltas; some hosts send all of it in one piece.
    const input = stringifyAnswer(toFields(block.input));
    if (input !== '{}') sink.callInput(calls, input);
  }

  return {
    hasCalls: () => calls > 0,
    start(block: Fields): void {
      if (block.type === 'text') say('text', block.text);
      else if (block.type === 'thinking') {
        say('thinking', block.thinking);
        signature = toText(block.signature);
      } else if (block.type === 'redacted_thinking') signature = toText(block.data);
      else if (block.type === 'tool_use') startCall(block);
    },
    delta(delta: Fields): void {
      switch (delta.type) {
        case 'text_delta':
          say('text', delta.text);
          return;
        case 'thinking_delta':
          say('thinking', delta.thinking);
          return;
        case 'signature_delta':
          signature += toText(delta.signature);
          return;
        case 'input_json_delta':
          // Server tools stream their input too; it belongs to no call of the client's.
          if (isCallOpen) sink.callInput(calls, toText(delta.partial_json));
      }
    },
    stop(): void {
      if (signature !== '')
        sink.seal({ of: 'thought', data: signedText(digest?.end() ?? digestOf(''), signature) });
      digest = undefined;
      signature = '';
      if (!isCallOpen) return;
      isCallOpen = false;
      sink.callEnd(calls);
      calls += 1;
    },
  };
}
