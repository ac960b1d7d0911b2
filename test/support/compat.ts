import type { CompatScope } from '@terse/contract/compat-services'
import { commandLine } from '../../src/identity/actor.ts'
import type { Service } from './service.ts'

/** Creates a token for clients of another service, which switches its API on for the workspace. */
export async function compatToken(
  { instance }: Pick<Service, 'instance'>,
  scope: CompatScope,
  workspace = 'acme',
): Promise<string> {
  const { id } = await instance.workspaces.ensure(commandLine, workspace)
  const options = { name: scope, scopes: [scope], expiresAt: null }
  return (await instance.tokens.create(commandLine(id), options)).secret
}
