import type { JsonDocument } from '../dialects/json-document.ts';
import type { Place } from './place.ts';

interface ContextParts {
  readonly roles: number;
  readonly chain: string | undefined;
  readonly isData: boolean;
  readonly origin?: Origin | undefined;
}

/** Where a document comes from that isn't the request itself. */
interface Origin {
  readonly outer: Place;
  readonly isDecoded: boolean;
}

/** What is known of a value from where it stands. Its variants are made once: a body has thousands of values. */
export class Context {
  readonly roles: number;
  readonly chain: string | undefined;
  /** Plain data, such as a tool's arguments: nothing in it is a block of the dialect. */
  readonly isData: boolean;
  readonly origin: Origin | undefined;
  #apart: Context | undefined;
  #data: Context | undefined;
  #named: Map<string, Context> | undefined;
  #byRole: Map<number, Context> | undefined;

  constructor({ roles, chain, isData, origin }: ContextParts) {
    this.roles = roles;
    this.chain = chain;
    this.isData = isData;
    this.origin = origin;
  }

  /** The same for what nobody reads in one go with what stands before. */
  apart(): Context {
    if (this.chain === undefined) return this;
    this.#apart ??= new Context({ ...this.#parts(), chain: undefined });
    return this.#apart;
  }

  /** The same for data inside a block. */
  data(): Context {
    if (this.isData) return this;
    this.#data ??= new Context({ ...this.#parts(), isData: true });
    return this.#data;
  }

  /**
   * Members that share a name are read together only among themselves: a member put between two others
   * must not part them.
   */
  named(name: string): Context {
    if (this.chain === undefined || this.chain === name) return this;
    this.#named ??= new Map();
    let named = this.#named.get(name);
    if (named === undefined) {
      named = new Context({ ...this.#parts(), chain: name });
      this.#named.set(name, named);
    }
    return named;
  }

  as(roles: number): Context {
    if (roles === this.roles) return this;
    this.#byRole ??= new Map();
    let other = this.#byRole.get(roles);
    if (other === undefined) {
      other = new Context({ ...this.#parts(), roles });
      this.#byRole.set(roles, other);
    }
    return other;
  }

  place(document: JsonDocument, entry: number): Place {
    if (this.origin === undefined) return { document, entry };
    const { outer, isDecoded } = this.origin;
    return isDecoded ? { document, entry, outer, isDecoded: true } : { document, entry, outer };
  }

  #parts(): ContextParts {
    return { roles: this.roles, chain: this.chain, isData: this.isData, origin: this.origin };
  }
}
