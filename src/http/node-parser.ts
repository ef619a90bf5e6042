const llhttp = process.versions.llhttp ?? '9';

/**
 * Whether Node's parser for HTTP/1.1 is llhttp 8, of Node 20 before 20.19.2. It takes header names that are no
 * tokens, and ends a head at CR LF CR without LF (CVE-2025-23167).
 */
export const isOldParser = Number.parseInt(llhttp, 10) < 9;

/** What whoever runs the gateway on this Node should know about its parser, if anything. */
export function parserProblem(isOld = isOldParser): string | undefined {
  if (!isOld) return undefined;
  return `Node ${process.version} reads HTTP with a parser that lets malformed requests pass (CVE-2025-23167): use Node 20.19.2 or newer`;
}
