import * as z from 'zod';

/**
 * What a setting is for, in the words of the JSON Schema and the reference: for `schema.register(...about('…'))`. zod's own
 * `describe` makes a copy of the schema, which is right where several settings share it; copies for all 190 settings took
 * a sixtieth of every start.
 */
export function about(description: string): [typeof z.globalRegistry, { description: string }] {
  return [z.globalRegistry, { description }];
}
