// What masking costs: a request against the same rule redacting, and a stream's event and first byte against none masked.
import { execFileSync } from 'node:child_process';
import { measureMaskedStreams } from './mask-streams.mjs';

const root = new URL('..', import.meta.url).pathname;

/** Rows of what was measured. */
export async function measureMask({ options, say }) {
  say('mask: modules');
  execFileSync('npm', ['run', '--silent', 'build:modules'], { cwd: root, stdio: 'inherit' });
  const { measureEvents, measureHeld, measureRequests } = await import('./mask.mjs');
  const rounds = options.isQuick ? 5 : 15;
  say('mask: requests');
  const requests = measureRequests(rounds);
  say('mask: streams');
  return {
    requests,
    events: measureEvents(rounds),
    held: measureHeld(),
    streams: await measureMaskedStreams(rounds),
  };
}
