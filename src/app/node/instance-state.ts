import type { InstanceState } from '../../operations/instance/routes.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { AppDependencies } from '../api/app-dependencies.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'
import { countCertificates } from '../metrics/certificate-counts.ts'

/** Returns how to read what this node and the database know about the instance. */
export function instanceStateReader(
  { baseUrl, tls }: Pick<Config, 'baseUrl' | 'tls'>,
  instance: Instance,
  {
    readiness,
    health,
    countedUntil,
  }: Pick<AppDependencies, 'readiness' | 'health' | 'countedUntil'>,
): () => Promise<InstanceState> {
  return async () => {
    const [roles, counted_until, nodes, certificates] = await Promise.all([
      readiness.check(),
      countedUntil(),
      instance.nodes.list(),
      tls === undefined ? null : countCertificates(instance),
    ])
    const { damaged_files, ...state } = health()
    const states = [...roles].map(([role, can]) => [role, can ? 'ok' : 'unavailable'] as const)
    return {
      version: VERSION,
      node_version: process.versions.node,
      base_url: baseUrl,
      database: instance.engine,
      roles: Object.fromEntries(states),
      ...state,
      damaged_files: [...damaged_files],
      counted_until,
      nodes,
      certificates,
    }
  }
}
