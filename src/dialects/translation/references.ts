import { type Fields, toFields, unsupported } from '../fields.ts';

// References of schemas (`$ref: '#/$defs/plant'`), for hosts that know none.

/** What a reference in a schema names; empty if it names nothing there. */
export function referred(root: Fields, name: string): Fields {
  const steps = name.startsWith('#/') ? name.slice(2).split('/') : [];
  const found = steps.reduce<unknown>(
    (held, step) => toFields(held)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    steps.length === 0 ? undefined : root,
  );
  return toFields(found);
}

/** References that lead to references, one in the other. */
const maxReferenceDepth = 64;

/** Called for each reference that is followed. Throws request.unsupported where the schemas become too large. */
export type FollowReference = (definition: Fields, depth: number) => void;

/**
 * How much the references of one request may add to it where they are written out: as much as its schemas have, because
 * references can multiply.
 */
export function createExpansion(schemas: readonly unknown[]): { of(tool: string): FollowReference } {
  const sizes = new Map<Fields, number>();
  let left: number | undefined;

  function sizeOf(definition: Fields): number {
    const size = sizes.get(definition) ?? JSON.stringify(definition).length;
    sizes.set(definition, size);
    return size;
  }

  return {
    of: (tool) => (definition, depth) => {
      left ??= mostExpansion(JSON.stringify(schemas).length);
      left -= sizeOf(definition);
      if (left >= 0 && depth < maxReferenceDepth) return;
      throw unsupported('tools', `the references in the schema of ${tool} make it too large for this model`);
    },
  };
}

/** In characters. */
const usualExpansion = 32_768;

/** What references may add to schemas of this length, in characters: budgets reserve it before anything is built. */
export function mostExpansion(length: number): number {
  return Math.max(usualExpansion, length);
}
