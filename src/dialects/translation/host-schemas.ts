import type { HostTraits } from '../../hosts/traits.ts';
import { type Fields, isFields, toList } from '../fields.ts';
import { toGoogleSchema } from './google-schema.ts';
import type { FollowReference } from './references.ts';
import { inWords, mapSchema } from './schemas.ts';

/**
 * A schema of arguments as a host takes it. Google's form is that of its endpoint of Chat, which alone says what follows
 * references. Throws request.unsupported where these make it too large.
 */
export function toHostSchema(schema: Fields, kind: HostTraits['schemas'], follow?: FollowReference): Fields {
  switch (kind) {
    case 'any':
      return schema;
    case 'no_patterns':
      return mapSchema(schema, (each) =>
        typeof each.pattern === 'string' ? inWords(each, ['pattern']) : each,
      );
    case 'typed_unions':
      return mapSchema(schema, withTypedVariants);
    case 'google':
      return follow === undefined ? schema : toGoogleSchema(schema, follow);
  }
}

/** The type beside a union moves into the variants that have none. */
function withTypedVariants(schema: Fields): Fields {
  const { type, ...others } = schema;
  const found = ['anyOf', 'oneOf'].filter((union) => Array.isArray(schema[union]));
  if (type === undefined || found.length === 0) return schema;
  const typed = (variant: unknown) =>
    isFields(variant) && variant.type === undefined && variant.$ref === undefined
      ? { type, ...variant }
      : variant;
  return {
    ...others,
    ...Object.fromEntries(found.map((union) => [union, toList(schema[union]).map(typed)])),
  };
}
