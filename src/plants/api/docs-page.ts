/** The API page: Swagger UI (docs/decisions/plant-store.md), from this service alone. */
export const docsPage = `<!doctype html>
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
export const docsScript = `'use strict';
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
