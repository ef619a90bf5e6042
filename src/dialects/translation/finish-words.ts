import type { FinishReason } from '../conversation.ts';
import { brokenAnswer, toText } from '../fields.ts';

/**
 * What hosts say of why an answer ended, in any dialect. Words of failures are not here: an answer that ended with one
 * of them, or with an unknown word, must not look finished.
 * Sources: the dialects' own documents; DeepSeek, Mistral, Zhipu, OpenRouter, vLLM, SGLang as in BerriAI/litellm#25825,
 * inspect_ai#5189, huggingface/chat-ui#2383, 2026-09.
 */
const words: Readonly<Record<FinishReason, string>> = {
  stop: 'stop end_turn end eos eos_token completed complete finish_reason_unspecified',
  sequence: 'stop_sequence',
  length: `length max_tokens max_output_tokens max_length model_length model_context_window_exceeded pause_turn compaction
    context_length_exceeded context_window_exceeded`,
  calls: 'tool_calls tool_call function_call tool_use',
  filter: `content_filter content_filtered content_filter_error sensitive refusal refused safety guardrail_intervened
    recitation language blocklist prohibited_content spii image_safety image_prohibited_content image_recitation
    model_armor`,
};

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  (Object.entries(words) as [FinishReason, string][]).flatMap(([finish, names]) =>
    names.split(/\s+/).map((name) => [name, finish] as const),
  ),
);

/**
 * Why an answer ended. Some hosts say that it stopped, or nothing, although there are calls, which are to be run. Throws
 * provider.broken_response for a failure and for an unknown word.
 */
export function parseFinishWord(reason: unknown, hasCalls: boolean): FinishReason {
  const word = toText(reason);
  const finish = word === '' ? 'stop' : finishes.get(word.toLowerCase());
  if (finish === undefined) {
    throw brokenAnswer(/^[\w.-]{1,40}$/.test(word) ? `ended with "${word}"` : 'ended for an unknown reason');
  }
  return hasCalls && (finish === 'stop' || finish === 'sequence') ? 'calls' : finish;
}
