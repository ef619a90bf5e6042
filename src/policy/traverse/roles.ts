import type { Role } from '../../dialects/dialect.ts';

/** Roles as bits, so that a text can be of several. */
export const roleBits = {
  system: 1,
  user: 2,
  assistant: 4,
  tool_result: 8,
  tool_definition: 16,
} as const satisfies Record<Role, number>;

export const roleNames = Object.keys(roleBits) as readonly Role[];

/** Texts whose role can't be determined have every role, so that no rule can be evaded through an unexpected field. */
export const everyRole = 31;

export function bitsOf(roles: readonly Role[]): number {
  return roles.reduce((bits, role) => bits | roleBits[role], 0);
}
