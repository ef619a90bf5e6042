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

interface Variants {
  apart: Context | undefined;
  data: Context | undefined;
  readonly named: Map<string, Context>;
  readonly byRole: Map<number, Context>;
}

/** What is known of a value from where it stands. Its variants are made once: a body has thousands of values. */
export class Context {
  readonly roles: number;
  readonly chain: string | undefined;
  /** Plain data, such as a tool's arguments: nothing in it is a block of the dialect. */
  readonly isData: boolean;
  readonly origin: Origin | undefined;
  #variants: Variants | undefined;

  constructor({ roles, chain, isData, origin }: ContextParts) {
    this.roles = roles;
    this.chain = chain;
    this.isData = isData;
    this.origin = origin;
  }

  /** The same for what nobody reads in one go with what stands before. */
  apart(): Context {
    if (this.chain === undefined) return this;
    const variants = this.#made();
    variants.apart ??= new Context({ ...this.#parts(), chain: undefined });
    return variants.apart;
  }

  /** The same for data inside a block. */
  data(): Context {
    if (this.isData) return this;
    const variants = this.#made();
    variants.data ??= new Context({ ...this.#parts(), isData: true });
    return variants.data;
  }

  /**
   * Members that share a name are read together only among themselves: a member put between two others
   * must not part them.
   */
  named(name: string): Context {
    if (this.chain === undefined || this.chain === name) return this;
    const { named } = this.#made();
    let other = named.get(name);
    if (other === undefined) {
      other = new Context({ ...this.#parts(), chain: name });
      named.set(name, other);
    }
    return other;
  }

  as(roles: number): Context {
    if (roles === this.roles) return this;
    const { byRole } = this.#made();
    let other = byRole.get(roles);
    if (other === undefined) {
      other = new Context({ ...this.#parts(), roles });
      byRole.set(roles, other);
    }
    return other;
  }

  place(document: JsonDocument, entry: number): Place {
    if (this.origin === undefined) return { document, entry };
    const { outer, isDecoded } = this.origin;
    return isDecoded ? { document, entry, outer, isDecoded: true } : { document, entry, outer };
  }

  /** The variants made so far; the contexts of most texts that are JSON have none. */
  #made(): Variants {
    this.#variants ??= { apart: undefined, data: undefined, named: new Map(), byRole: new Map() };
    return this.#variants;
  }

  #parts(): ContextParts {
    return { roles: this.roles, chain: this.chain, isData: this.isData, origin: this.origin };
  }
}
