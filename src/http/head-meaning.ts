import { GatewayError } from '../errors.ts';
import { malformed } from './malformed.ts';

/** What a header says about where its request ends and what becomes of the connection. */
export type Role = 'host' | 'length' | 'transfer' | 'connection' | 'expect' | 'upgrade';

/** The headers that say something, by their names in lower case. */
export const roles: ReadonlyMap<string, Role> = new Map([
  ['host', 'host'],
  ['content-length', 'length'],
  ['transfer-encoding', 'transfer'],
  ['connection', 'connection'],
  ['expect', 'expect'],
  ['upgrade', 'upgrade'],
]);

// More digits would not be exact, and so many bytes never come.
const length = /^\d{1,15}$/;

/** What the headers of one head say together. Throws request.framing and request.expectation. */
export class HeadMeaning {
  readonly #isOld: boolean;
  #hosts = 0;
  #length: number | undefined;
  #isChunked = false;
  #options = '';
  #expectsContinue = false;
  #hasUpgrade = false;

  constructor(version: '1.0' | '1.1') {
    this.#isOld = version === '1.0';
  }

  note(role: Role, value: string): void {
    switch (role) {
      case 'host':
        this.#hosts += 1;
        if (this.#hosts > 1) throw malformed('there is more than one Host header');
        return;
      case 'length':
        if (this.#length !== undefined || !length.test(value))
          throw malformed('the content-length is not one number');
        this.#length = Number(value);
        return;
      case 'transfer':
        if (this.#isChunked || value.toLowerCase() !== 'chunked')
          throw malformed('transfer-encoding may only be chunked, once');
        this.#isChunked = true;
        return;
      case 'connection':
        this.#options += `,${value.toLowerCase()}`;
        return;
      case 'expect':
        if (this.#expectsContinue || value.toLowerCase() !== '100-continue')
          throw new GatewayError('request.expectation', 'Expect may only be 100-continue');
        this.#expectsContinue = true;
        return;
      case 'upgrade':
        this.#hasUpgrade = true;
    }
  }

  /** Bytes of the body; undefined where it comes in chunks. Throws where the headers do not agree on that. */
  parseBodyLength(): number | undefined {
    if (!this.#isChunked) return this.#length ?? 0;
    if (this.#length !== undefined) throw malformed('a body has either a length or chunks');
    // Chunks are of HTTP/1.1: who says 1.0 and sends them is a relay that did not understand them.
    if (this.#isOld) throw malformed('HTTP/1.0 has no chunks');
    return undefined;
  }

  get keepsAlive(): boolean {
    return !this.#hasOption('close') && (!this.#isOld || this.#hasOption('keep-alive'));
  }

  get expectsContinue(): boolean {
    return this.#expectsContinue && !this.#isOld;
  }

  get asksForUpgrade(): boolean {
    // In HTTP/1.0 it means nothing (RFC 9110, section 7.8).
    return this.#hasUpgrade && !this.#isOld && this.#hasOption('upgrade');
  }

  #hasOption(option: string): boolean {
    return this.#options !== '' && this.#options.split(',').some((each) => each.trim() === option);
  }
}
