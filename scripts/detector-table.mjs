// Prints how precise and complete the detectors are on the labelled set: the table of docs/detectors.md.
import { createViteServer } from 'vitest/node';

const server = await createViteServer({
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, watch: null, ws: false, hmr: false },
  optimizeDeps: { noDiscovery: true, include: [] },
});
try {
  const { scoreTable } = await server.ssrLoadModule('/test/policy/detectors/labelled-set/measure.ts');
  process.stdout.write(scoreTable());
} finally {
  await server.close();
}
