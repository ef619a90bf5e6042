import type { FinishReason } from '../conversation.ts';
import { type Fields, toFields } from '../fields.ts';

export function parseResponsesFinish(response: Fields, hasCalls: boolean): FinishReason {
  if (response.status === 'incomplete') {
    return toFields(response.incomplete_details).reason === 'content_filter' ? 'filter' : 'length';
  }
  return hasCalls ? 'calls' : 'stop';
}

interface Status {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

export function buildStatus(finish: FinishReason): Status {
  if (finish === 'length')
    return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish === 'filter') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed', incomplete_details: null };
}
