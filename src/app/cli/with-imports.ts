import type { ImportTools } from '../../imports/commands/import.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and what imports need for one command. */
export function withImports<T>(work: (tools: ImportTools) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config, log }) => {
    const { openServiceHost } = await import('../instance/service-host.ts')
    const { openDomains } = await import('../instance/domains.ts')
    const { openImporter } = await import('../instance/importing.ts')
    const { openPasswordHasher } = await import('../workers/password-hasher.ts')
    const { CommandImports } = await import('../../imports/command-imports.ts')
    const { reportCsv, reportHosts } = await import('../../imports/present.ts')
    const { openSource } = await import('../../imports/sources/open-source.ts')
    const { guardedAgents, closeAgents } = await import(
      '../../platform/network/outgoing-request.ts'
    )
    const { systemRandom } = await import('../../platform/crypto/random.ts')
    const { WorkQueues } = await import('../../platform/work/work-queues.ts')
    const { store, clock, workspaces } = instance
    const queues = new WorkQueues()
    const hashing = openPasswordHasher(queues)
    // An operator may import from an address of their own network.
    const agents = guardedAgents(() => true)
    const serviceHost = await openServiceHost(config, instance)
    const { domains } = openDomains(config, instance, log, { isOperator: true, queues })
    const context = { config, instance, log, serviceHost, hasher: hashing.hasher }
    try {
      return await work({
        workspaces,
        imports: new CommandImports({ store, clock, random: systemRandom }),
        openSource: (settings) => openSource(settings, { agents }),
        openImporter: (on) => openImporter(context, domains, { ...on, countsClicks: true }),
        reportOf: ({ id }) => reportCsv(store, id),
        async unprovedDomainsOf({ id, workspace_id: workspaceId }) {
          const unproved: string[] = []
          for (const host of await reportHosts(store, id)) {
            const domain = await store.read.domains.findByHost(workspaceId, host)
            if (host !== serviceHost.host && domain?.status !== 'active') unproved.push(host)
          }
          return unproved
        },
      })
    } finally {
      closeAgents(agents)
      await hashing.close()
    }
  })
}
