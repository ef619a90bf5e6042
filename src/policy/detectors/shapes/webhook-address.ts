import type { Finding } from '../detector.ts';
import { isPlaceholder } from '../secrets/placeholder.ts';
import { randomRun } from './random-run.ts';

export const webhookPrefilter = '://[^ ]{0,256}(?:hook|trigger|deploy|invite|reset|magic|robot)';

const longestAddress = 512;
const address = new RegExp(`https?://[\\w.-]+[\\w./:%?&=@~+-]{1,${longestAddress}}`, 'g');
const hookWords = /(?:hook(?:s|b2|bot)?|trigger|deploy|invite|reset|magic[-_]?link|robot)(?![a-z])/i;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const leastBits = 80;
const commit = /^[0-9a-f]{40}$/;

/** Webhook URLs: whoever knows the random part can send messages, so they are as sensitive as keys. */
export function findWebhookAddresses(text: string): readonly Finding[] {
  if (!text.includes('://') || !hookWords.test(text)) return [];
  return [...text.matchAll(address)].flatMap(({ index: start, 0: whole }) => {
    const found =
      hookWords.test(whole) &&
      whole
        .split(/[/?&=@]/)
        .slice(3)
        .some(isRandom);
    return found
      ? [{ start, end: start + whole.length, confidence: 'possible', why: 'webhook address' } as const]
      : [];
  });
}

function isRandom(part: string): boolean {
  if (uuid.test(part)) return true;
  const random = randomRun(part);
  return random !== undefined && random.bits >= leastBits && !commit.test(part) && !isPlaceholder(part);
}
