import { readFile } from 'node:fs/promises';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { checkOrigin, type hostsAt } from '../../http/check-origin.ts';
import { type HttpRequest, newRequestId } from '../../http/request.ts';
import { commonHeaders, flattenHeaders, sendError, sendJson } from '../../http/respond.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { PageSessions } from '../access/sessions.ts';
import { type PageRequest, type Routed, securityHeaders } from './router.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const filePath = /^(?:index|assets\/[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*)\.(html|js|css|svg)$/;

// When run from source (in tests) this serves the built page.
const ownDirectory = import.meta.url.endsWith('.ts') ? '../../../dist/page/' : './page/';

/** Reads files of the page, each on first request. Throws inspector.unknown for anything that is not one. */
export function createPageFiles(): (path: string) => Promise<PageFile> {
  const directory = new URL(ownDirectory, import.meta.url);
  const files = new Map<string, PageFile>();
  return async (path) => {
    const type = types[filePath.exec(path)?.[1] ?? ''];
    if (type === undefined) throw unknown(path);
    try {
      const file = files.get(path) ?? { type, bytes: await readFile(new URL(path, directory)) };
      files.set(path, file);
      return file;
    } catch (cause) {
      throw unknown(path, cause);
    }
  };
}

function unknown(path: string, cause?: unknown): GatewayError {
  return new GatewayError('inspector.unknown', `the page has no file ${path.slice(0, 100)}`, { cause });
}

const noOrigins: ReadonlySet<string> = new Set();

interface ServePageOptions {
  readonly route: (method: string, path: string) => Routed;
  readonly sessions: PageSessions;
  readonly hosts: () => ReturnType<typeof hostsAt>;
  /** Whether the configuration in force enables the page. */
  readonly isEnabled: () => boolean;
  /** Called for failures of the gateway itself. */
  readonly onFailure: (error: GatewayError) => void;
}

/** Answers every request below `/_/`, with the same checks for each. */
export function servePage(options: ServePageOptions): (request: HttpRequest, response: HttpResponse) => void {
  const { route, sessions, hosts, isEnabled, onFailure } = options;
  const handle = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const requestId = newRequestId();
    try {
      // A foreign Host (DNS rebinding), and every Origin but the page's own, even those that may call the gateway.
      checkOrigin(request, { ...hosts(), allowedOrigins: noOrigins });
      if (!isEnabled())
        throw new GatewayError('inspector.unknown', 'the live page is off (inspector.enabled)');
      const mark = request.target.indexOf('?');
      const path = mark < 0 ? request.target : request.target.slice(0, mark);
      const query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1));
      const found = route(request.method, path);
      if (path.startsWith('/_/api/')) checkSameOrigin(request);
      if (found.needsSession) sessions.require(request);
      const send: PageRequest['send'] = (value, more) =>
        void sendJson(response, value, requestId, { headers: { ...securityHeaders, ...more } });
      const headers = { ...commonHeaders(requestId), ...securityHeaders };
      const value = await found.answer({
        request,
        response,
        headers,
        send,
        query,
        parameter: found.parameter,
      });
      if (value !== undefined) send(value);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (error.code === 'gateway.internal') onFailure(error);
      if (!response.headersSent && !response.isClosed) {
        sendError(response, error, requestId, { headers: securityHeaders });
      }
    }
  };
  return (request, response) => void handle(request, response);
}

/** Refuses requests that a page of another site or another port made the browser send. */
function checkSameOrigin(request: HttpRequest): void {
  const site = request.header('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new GatewayError('origin.not_allowed', 'only the page itself may ask for this');
}

export function sendFile({ response, headers }: PageRequest, { type, bytes }: PageFile): void {
  const length = String(bytes.length);
  response.writeHead(200, flattenHeaders({ ...headers, 'content-type': type, 'content-length': length }));
  response.end(bytes);
}
