import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { asyncapi } from '../contract/asyncapi.ts';
import { openapi } from '../contract/openapi.ts';
import {
  type Handlers,
  jsonAnswer,
  type Operation,
  type OperationRequest,
  type OperationResponse,
} from './operation.ts';

/** The API page: Swagger UI (docs/decisions/plant-store.md), from this service alone. */
const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plant Store API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<noscript>This page needs JavaScript. The contracts themselves: <a href="openapi.json">openapi.json</a>, <a href="asyncapi.json">asyncapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** Starts the page; after a login there, everything tried later uses its session, until a logout. */
const docsScript = `'use strict';
const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  responseInterceptor: (response) => {
    const path = new URL(response.url).pathname;
    if (path.endsWith('/user/auth/login') && response.ok) {
      ui.preauthorizeApiKey('bearer', response.body.token);
    }
    if (path.endsWith('/user/auth/logout') && response.ok) ui.authActions.logout(['bearer']);
    return response;
  },
});
`;

const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';
// Built into dist/, beside the bundle, where unbundled sources and modules find it too.
const assetDirectories = ['./', '../../../dist/'];

/** The service's documentation: both contracts, and a page to read and try them. */
export const documentHandlers = {
  getOpenapi: () => jsonAnswer(openapi),
  getAsyncapi: () => jsonAnswer(asyncapi),
  getDocs: pageAnswer,
} satisfies Partial<Handlers>;

/** What that page consists of. */
export const assetOperations: readonly Operation[] = [
  {
    id: 'getDocsScript',
    method: 'GET',
    path: '/v3/docs/start.js',
    handle: () => ({ type: script, body: docsScript, headers: assetHeaders }),
  },
  asset('getDocsLibrary', 'swagger-ui-bundle.js', script),
  asset('getDocsStyle', 'swagger-ui.css', style),
];

function pageAnswer(): OperationResponse {
  // Everything comes from this service; no inline scripts or styles.
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:", // icons inside the style sheet
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  const text = Object.entries(policy).map(([directive, sources]) => `${directive} ${sources}`);
  return {
    type: 'text/html; charset=utf-8',
    body: docsPage,
    headers: {
      'content-security-policy': text.join('; '),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    },
  };
}

const assetHeaders = {
  'cache-control': 'private, max-age=3600',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** One of the library's files: read on the first request, and cached compressed. */
function asset(id: string, name: string, type: string): Operation {
  let reading: Promise<Buffer> | undefined;
  const handle = async ({ request }: OperationRequest): Promise<OperationResponse> => {
    reading ??= readFile(assetPath(`${name}.gz`));
    const compressed = await reading;
    const headers = { ...assetHeaders, vary: 'accept-encoding' };
    if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(request.header('accept-encoding') ?? '')) {
      return { type, body: gunzipSync(compressed), headers };
    }
    return { type, body: compressed, headers: { ...headers, 'content-encoding': 'gzip' } };
  };
  return { id, method: 'GET', path: `/v3/docs/${name}`, handle };
}

function assetPath(name: string): string {
  const places = assetDirectories.map((directory) =>
    fileURLToPath(new URL(directory + name, import.meta.url)),
  );
  return places.find((place) => existsSync(place)) ?? name;
}
