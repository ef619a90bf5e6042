import { createViteServer } from 'vitest/node';

/** Hands the exports of a TypeScript file of this project to a function, without a build. */
export async function loadTypeScript(file, use) {
  const server = await createViteServer({
    configFile: false,
    logLevel: 'error',
    server: { middlewareMode: true, watch: null, ws: false, hmr: false },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    await use(await server.ssrLoadModule(file));
  } finally {
    await server.close();
  }
}
