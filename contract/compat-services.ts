// Loads no zod: a node knows the scopes of tokens before it loads the API.

/** Services whose APIs Terse can answer. */
export const COMPAT_SERVICES = ['yourls', 'kutt', 'shlink', 'bitly', 'polr'] as const

export type CompatService = (typeof COMPAT_SERVICES)[number]

/**
 * What a token of a client that was made for another service may do: it is the only scope of its token, which works with
 * the API of that service alone.
 */
export const COMPAT_SCOPES = COMPAT_SERVICES.map((service) => `compat:${service}` as const)

export type CompatScope = (typeof COMPAT_SCOPES)[number]
