import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import type { WarmStartState } from '../../platform/cache/coherent-cache.ts'
import { hostChange } from '../../platform/changes/changes.ts'
import { isUnavailable } from '../../platform/failure.ts'
import type { Config } from '../config/read-config.ts'
import { serviceNameOf } from './domains.ts'
import type { Instance } from './instance.ts'

/** @param state kept by an earlier process, for a node that starts while the database is down */
export async function findServiceHost(
  config: Config,
  instance: Instance,
  state: WarmStartState | undefined,
): Promise<ServiceHost> {
  try {
    return await openServiceHost(config, instance)
  } catch (error) {
    const name = serviceNameOf(config)
    if (!isUnavailable(error) || state?.serviceHost !== name.host) throw error
    return { ...name, keyspaceId: state.serviceKeyspaceId }
  }
}

/** Opens the service's own host, whose name may have changed since the last start. */
export async function openServiceHost(config: Config, instance: Instance): Promise<ServiceHost> {
  const { store, clock } = instance
  const name = serviceNameOf(config)
  const { host } = name
  const keyspaceId = await store.write(async (stores) => {
    const shared = await stores.keyspaces.openShared(host)
    if (shared.movedFrom !== undefined) {
      await stores.changes.append(hostChange(shared.movedFrom), clock.nowMicros())
    }
    return shared.id
  })
  return { ...name, keyspaceId }
}
