import { makeToken } from '../../test/support/make-instance.ts'

/** A token of the one workspace that a bench works in; its first use makes the database. */
export function createToken(env: Readonly<Record<string, string>>): Promise<string> {
  return makeToken(env, 'bench')
}
