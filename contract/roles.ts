// Loads no zod: a node knows the roles before it loads the API.

/** From the least to the most that a member may do. Each role may do all that those before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const

export type Role = (typeof ROLES)[number]
