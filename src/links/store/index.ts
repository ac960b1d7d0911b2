/** What other modules use of the tables of links. It loads Kysely, which `../index.ts` does not. */
export { LinkNumbers } from './link-numbers.ts'
export { postgresLinkSequence } from './postgres/link-sequence.ts'
export { sqliteLinkSequence } from './sqlite/link-sequence.ts'
