import { makeToken } from '../../test/support/make-instance.ts'

/** Creates a token of the one workspace that a bench uses. The first call creates the database. */
export function createToken(env: Readonly<Record<string, string>>): Promise<string> {
  return makeToken(env, 'bench')
}
