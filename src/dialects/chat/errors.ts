import type { ProviderFailure } from '../conversation.ts';
import type { SseEvent } from '../sse.ts';
import { openAiErrorBody } from '../translation/openai.ts';

export function chatErrorEvent(failure: ProviderFailure): SseEvent {
  return { data: JSON.stringify(openAiErrorBody(failure)) };
}
