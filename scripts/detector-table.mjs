// Prints how precise and complete the detectors are on the labelled set: the table of docs/detectors.md.
import { loadTypeScript } from './load-typescript.mjs';

await loadTypeScript('/test/policy/detectors/labelled-set/measure.ts', ({ scoreTable }) => {
  process.stdout.write(scoreTable());
});
