import type { Socket } from 'node:net';
import type { Done } from './response.ts';
import type { Taker, Turn } from './tick.ts';

/** Who reads a channel. */
export interface ChannelReader {
  arrived(bytes: Buffer): void;
  /** The other side sends no more. */
  peerEnded(): void;
  closed(): void;
}

/** Longest piece that is worth a copy to save a write. */
export const joinedBytes = 16 * 1024;

/** A socket, the bytes of which come and go in turns. */
export class Channel implements Taker {
  readonly #socket: Socket;
  readonly #turn: Turn;
  readonly #reader: ChannelReader;
  #arrived: Buffer | undefined;
  #isGivenUp = false;

  constructor(socket: Socket, turn: Turn, reader: ChannelReader) {
    this.#socket = socket;
    this.#turn = turn;
    this.#reader = reader;
    socket.on('data', (bytes: Buffer) => {
      this.takeArrived();
      // Those before them may have ended all that this channel is for.
      if (this.#isGivenUp) return void socket.unshift(bytes);
      this.#arrived = bytes;
      turn.arrived(this, bytes.length);
    });
    socket.on('end', () => {
      this.takeArrived();
      reader.peerEnded();
    });
    socket.once('close', () => {
      this.takeArrived();
      reader.closed();
    });
  }

  /** Whether there are bytes that the reader has not been given. */
  get hasArrived(): boolean {
    return this.#arrived !== undefined;
  }

  takeArrived(): void {
    const bytes = this.#arrived;
    if (bytes === undefined) return;
    this.#arrived = undefined;
    this.#reader.arrived(bytes);
  }

  /** Leaves the socket to somebody else, as if nobody had ever listened: what comes before they do waits. */
  giveUp(): void {
    const socket = this.#socket;
    this.#isGivenUp = true;
    socket.removeAllListeners('data').pause();
    (socket as { readableFlowing: boolean | null }).readableFlowing = null;
  }

  /** Writes bytes, or a text of a character for each byte. False asks for a pause until the socket's `drain`. */
  write(data: Buffer | string, done?: Done): boolean {
    return this.#turn.write(this.#socket, data, done);
  }

  /** Writes a head, as such a text, and the body behind it, so that they leave together. */
  writeBoth(head: string, body: Buffer, done?: Done): boolean {
    // A short body as text joins the head in one write; as bytes it would be two.
    if (body.length <= joinedBytes) return this.write(head + body.toString('latin1'), done);
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    const mayGoOn = this.#turn.write(this.#socket, body, done);
    this.#socket.uncork();
    return mayGoOn;
  }
}
