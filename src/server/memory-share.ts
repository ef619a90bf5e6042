import { totalmem } from 'node:os';

const mebibyte = 1_048_576;
/** How much the process that hands out connections uses. */
const parentBytes = 64 * mebibyte;
/** The least that a worker can do with: 110 MiB once it is warm, and room for bodies. */
const minWorkerBytes = 192 * mebibyte;
/**
 * A body takes up to 35 times its bytes while it is read and decided on, if it is made of little else than secrets, and 85
 * times if each of those is a string of a list. A thread whose heap doesn't suffice refuses the request.
 */
const bodiesPart = 1 / 16;
const bytesPerThread = 256 * mebibyte;
const maxThreads = 4;
/** With less, memory that is not collected early is not there for anybody else. */
const smallBytes = 1_024 * mebibyte;

/** What one of the processes that serve may use of this machine's, or this container's, memory. */
export interface MemoryShare {
  /** Of the machine or the container. */
  readonly totalBytes: number;
  /** For the bodies of open requests. */
  readonly bodiesBytes: number;
  readonly decisionThreads: { readonly count: number; readonly heapMegabytes: number | undefined };
  readonly isSmall: boolean;
}

/** `workers` are the processes that have a share each. */
export function memoryShare(workers: number, totalBytes = memoryBytes()): MemoryShare {
  const shareBytes = workers === 1 ? totalBytes : (totalBytes - parentBytes) / workers;
  const isSmall = shareBytes < smallBytes;
  return {
    totalBytes,
    bodiesBytes: Math.floor(shareBytes * bodiesPart),
    decisionThreads: {
      count: Math.min(maxThreads, Math.max(1, Math.floor(shareBytes / bytesPerThread))),
      heapMegabytes: isSmall ? Math.floor(shareBytes / 4 / mebibyte) : undefined,
    },
    isSmall,
  };
}

/** As many workers as are wanted and have room in the memory. */
export function fittingWorkers(wanted: number, totalBytes = memoryBytes()): number {
  return Math.max(1, Math.min(wanted, Math.floor((totalBytes - parentBytes) / minWorkerBytes)));
}

/** A size for people. */
export function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / mebibyte)} MiB`;
}

/** The container's limit, where there is one, or what the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
