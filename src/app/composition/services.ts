import { hasCities } from '../../clicks/record/places.ts'
import type { Domains } from '../../domains/domains.ts'
import { WORKSPACE_EXPORT_QUEUE, WorkspaceExports } from '../../exports/workspace-exports.ts'
import { Invitations } from '../../identity/members/invitations.ts'
import { Members } from '../../identity/members/members.ts'
import { ResetLinks } from '../../identity/people/password-resets.ts'
import { Accounts } from '../../identity/people/people.ts'
import type { TryExamples } from '../../links/index.ts'
import { LinkKeyspaces } from '../../links/link-keyspaces.ts'
import { LinkWriter } from '../../links/link-writer.ts'
import { RuleSets } from '../../links/rule-sets/rule-sets.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { cursors } from '../../platform/http/api/cursor.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { WorkQueues } from '../../platform/work/fair-queue.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import type { Config } from '../config/config.ts'
import { serviceNameOf } from './domains.ts'
import { type AppContext, type Instance, vaultOf } from './instance.ts'

/**
 * What writes links and rule sets, for the API and for imports.
 *
 * @param tryExamples undefined for imports, which leave results of examples as they are
 */
export function openLinkWriter(
  context: Pick<AppContext, 'config' | 'instance' | 'serviceHost' | 'hasher'>,
  domains: Domains,
  tryExamples?: TryExamples,
) {
  const { config, instance, serviceHost } = context
  const { store, clock, quotas } = instance
  const { claimOnLink, appSchemes, countryDatabase } = config
  const base = { clock, random: systemRandom, serviceHost }
  const keyspaces = new LinkKeyspaces({ ...base, domains, claimOnLink })
  const vault = vaultOf(context)
  const rules = { appSchemes, hasCities: hasCities(countryDatabase) }
  const writer = new LinkWriter({
    ...base,
    keyspaces,
    vault,
    ...rules,
    quotas,
    tryExamples,
  })
  const ruleSets = new RuleSets({ store, clock, random: systemRandom, ...rules })
  return { keyspaces, writer, ruleSets }
}

/** Builds the exports of workspaces, for the API and the command line. Cursors of one work in the other. */
export function openExports(
  config: Config,
  { store, clock, instanceKey, workspaces }: Instance,
  queues: WorkQueues,
): WorkspaceExports {
  return new WorkspaceExports({
    ...{ store, clock, workspaces, baseUrl: config.baseUrl },
    clickRetentionDays: config.clickRetentionDays,
    serviceHost: serviceNameOf(config).host,
    cursors: cursors(deriveKey(instanceKey, 'list-cursor'), systemRandom),
    exports: queues.open(WORKSPACE_EXPORT_QUEUE),
  })
}

/**
 * The services for people that need only the database, so that the command line can open them.
 *
 * @param options.throttle limits the invitations of a workspace; undefined for no limit
 * @param options.sendsMail whether invitations are mailed too
 */
export function openPeople(
  { store, clock }: Pick<Instance, 'store' | 'clock'>,
  { throttle, sendsMail = false }: { throttle?: Throttle; sendsMail?: boolean } = {},
) {
  const base = { store, clock, random: systemRandom }
  return {
    members: new Members(base),
    invitations: new Invitations({ ...base, throttle, sendsMail }),
    accounts: new Accounts(base),
    resetLinks: new ResetLinks(base),
  }
}
