import { GatewayError } from '../../errors.ts';
import type { CloudApi } from './cloud-api.ts';

/** Claude on Amazon Bedrock by InvokeModel and InvokeModelWithResponseStream. */
export const bedrock: CloudApi = {
  pathFor: ({ model, stream }) =>
    `/model/${toSegment(model)}/${stream ? 'invoke-with-response-stream' : 'invoke'}`,
  envelopeFor: () => ({ version: 'bedrock-2023-05-31', pathMembers: ['model', 'stream'], holdsBetas: true }),
};

/**
 * A model's name as one segment of a path. Slashes of ARNs are escaped, but some servers resolve dots after decoding, so a
 * name with such a part is refused: clients choose names. Throws request.field.
 */
export function toSegment(model: string): string {
  if (model.split('/').some((part) => /^\.{0,2}$/.test(part))) {
    throw new GatewayError('request.field', 'the model has a name that cannot stand in a path', {
      param: '/model',
    });
  }
  return encodeURIComponent(model);
}
