import { commandLine } from '../../identity/index.ts'
import { Failure } from '../../platform/failure.ts'
import type { Domain } from '../domain.ts'
import type { DomainTools } from './domain-tools.ts'

/**
 * Returns the domain with this host: of the named workspace, or of the only workspace that has it.
 *
 * @throws {Failure} `not_found`; `validation_failed` when several workspaces have it and none is named
 */
export async function findClaim(
  { workspaces, domains }: DomainTools,
  host: string,
  workspaceName: string | undefined,
): Promise<Domain> {
  if (workspaceName !== undefined) {
    return domains.getByHost(commandLine((await workspaces.get(workspaceName)).id), host)
  }
  const claims: { workspace: string; domain: Domain }[] = []
  for (const { id, name } of await workspaces.list()) {
    try {
      claims.push({ workspace: name, domain: await domains.getByHost(commandLine(id), host) })
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_found')) throw error
    }
  }
  const [only, ...others] = claims
  if (only === undefined) throw Failure.notFound(`Domain ${host}`)
  if (others.length > 0) {
    const names = claims.map(({ workspace }) => workspace).join(', ')
    throw Failure.invalidCommand(`workspace is needed: ${host} was added by ${names}`)
  }
  return only.domain
}
