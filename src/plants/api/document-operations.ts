import { createHash } from 'node:crypto';
import { renderDocs } from '../contract/docs-page.ts';
import { docsStyle } from '../contract/docs-style.ts';
import type { EventContract, HttpContract } from '../contract/document.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import type { Operation } from './operation.ts';

/** The service about itself: both contracts, and a page made of them once. */
export function documentOperations(http: HttpContract, events: EventContract): readonly Operation[] {
  const page = docsAnswer(renderDocs(http, events));
  const [openapi, asyncapi] = [jsonAnswer(http), jsonAnswer(events)];
  return [
    { id: 'getOpenapi', method: 'GET', path: '/v3/openapi.json', handle: () => openapi },
    { id: 'getAsyncapi', method: 'GET', path: '/v3/asyncapi.json', handle: () => asyncapi },
    { id: 'getDocs', method: 'GET', path: '/v3/docs', handle: () => page },
  ];
}

function docsAnswer(body: string): Answer {
  const style = createHash('sha256').update(docsStyle).digest('base64');
  return {
    type: 'text/html; charset=utf-8',
    body,
    headers: {
      // Nothing is loaded and nothing runs: the page is text and one style sheet, known by its hash.
      'content-security-policy': `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cross-origin-resource-policy': 'same-origin',
    },
  };
}
