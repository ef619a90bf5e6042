import type { JsonDocument } from '../../json/json-document.ts';
import type { Place } from './place.ts';

interface ContextParts {
  readonly roles: number;
  readonly sequence: string | undefined;
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
  named: Map<string, Context> | undefined;
  byRole: Map<number, Context> | undefined;
}

/** What is known of a value from where it stands. Its variants are made once: a body has thousands of values. */
export class Context {
  readonly roles: number;
  readonly sequence: string | undefined;
  /** Plain data, such as a tool's arguments: nothing in it is a block of the dialect. */
  readonly isData: boolean;
  readonly origin: Origin | undefined;
  #variants: Variants | undefined;

  constructor({ roles, sequence, isData, origin }: ContextParts) {
    this.roles = roles;
    this.sequence = sequence;
    this.isData = isData;
    this.origin = origin;
  }

  /** The same for what nobody reads in one go with what stands before. */
  apart(): Context {
    if (this.sequence === undefined) return this;
    const variants = this.#made();
    if (variants.apart === undefined) {
      const { roles, isData, origin } = this;
      variants.apart = new Context({ roles, sequence: undefined, isData, origin });
    }
    return variants.apart;
  }

  /** The same for data inside a block. */
  data(): Context {
    if (this.isData) return this;
    const variants = this.#made();
    if (variants.data === undefined) {
      const { roles, sequence, origin } = this;
      variants.data = new Context({ roles, sequence, isData: true, origin });
    }
    return variants.data;
  }

  /**
   * Members that share a name are read together only among themselves: a member put between two others
   * must not part them.
   */
  named(name: string): Context {
    if (this.sequence === undefined || this.sequence === name) return this;
    const variants = this.#made();
    variants.named ??= new Map();
    let other = variants.named.get(name);
    if (other === undefined) {
      const { roles, isData, origin } = this;
      other = new Context({ roles, sequence: name, isData, origin });
      variants.named.set(name, other);
    }
    return other;
  }

  /** The same for a member whose name says nothing. */
  member(name: string): Context {
    return this.sequence === undefined ? this : this.named(`.${name}`);
  }

  as(roles: number): Context {
    if (roles === this.roles) return this;
    const variants = this.#made();
    variants.byRole ??= new Map();
    let other = variants.byRole.get(roles);
    if (other === undefined) {
      const { sequence, isData, origin } = this;
      other = new Context({ roles, sequence, isData, origin });
      variants.byRole.set(roles, other);
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
    this.#variants ??= { apart: undefined, data: undefined, named: undefined, byRole: undefined };
    return this.#variants;
  }
}
