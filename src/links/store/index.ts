/** The exports of the link tables for other modules. Loads Kysely, which `../index.ts` does not. */

export { LinkNumbers, type LinkSequence } from './link-numbers.ts'
export { readLinkValues } from './link-rows.ts'
export { postgresLinkSequence } from './postgres/link-sequence.ts'
export { skipLinkNumbers, sqliteLinkSequence } from './sqlite/link-sequence.ts'
