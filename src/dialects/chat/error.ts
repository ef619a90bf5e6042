import type { ProviderFailure } from '../conversation.ts';
import { openAiErrorBody } from '../translation/openai-error.ts';

export function chatErrorEvent(failure: ProviderFailure): string {
  return `data: ${JSON.stringify(openAiErrorBody(failure))}\n\n`;
}
