import type { ServerResponse } from 'node:http';

/** Longest piece that is worth a copy to save a write. */
const joinedBytes = 16 * 1024;
const lastChunk = '0\r\n\r\n';

/**
 * The body of an answer whose length nobody knows yet, piece by piece, in the chunked coding (RFC 9112, section
 * 7.1). Node would make three writes of each piece, which leave together as a vector; as one text, each byte a
 * character, a short piece leaves at two thirds of the cost.
 */
export class OpenBody {
  readonly #response: ServerResponse;
  readonly #isChunked: boolean;

  /** Sends the head at once: without that it waits for the first piece, and clients wait for the head. */
  constructor(response: ServerResponse, status: number, headers: readonly string[]) {
    this.#response = response;
    // A client of HTTP/1.0 gets the bare bytes, until the connection ends.
    this.#isChunked = response.useChunkedEncodingByDefault;
    response.writeHead(status, this.#isChunked ? [...headers, 'transfer-encoding', 'chunked'] : [...headers]);
    if (this.#isChunked) response.chunkedEncoding = false; // Node need not do it again
    response.flushHeaders();
  }

  /** False asks for a pause until the response's `drain`. `done` is called when the piece has left. */
  write(piece: Buffer, done?: () => void): boolean {
    // A chunk of no bytes would be the last one, and tell the client that the body is whole.
    if (!this.#isChunked || piece.length === 0) return this.#response.write(piece, done);
    const size = `${piece.length.toString(16)}\r\n`;
    if (piece.length <= joinedBytes) {
      return this.#response.write(`${size}${piece.toString('latin1')}\r\n`, 'latin1', done);
    }
    return this.#response.write(Buffer.concat([Buffer.from(size), piece, Buffer.from('\r\n')]), done);
  }

  /** The body is whole. Without it a client knows that it was cut. */
  end(): void {
    if (this.#isChunked) this.#response.end(lastChunk, 'latin1');
    else this.#response.end();
  }
}
