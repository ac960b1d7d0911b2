import { openPostgres, type PostgresServer } from '../../test/support/postgres-server.ts'
import { keptFolder } from '../support/kept-folder.ts'

/** A configuration for this much data, on a machine of 24 GB that runs other programs as well. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '8GB',
  effective_cache_size: '16GB',
  maintenance_work_mem: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
}

/**
 * Starts PostgreSQL with data that are kept from one run to the next.
 * @param version as in `keptFolder`
 * @param fill called with an empty server when there are no data
 */
export async function startKeptPostgres(
  name: string,
  version: string,
  fill: (server: PostgresServer) => Promise<void>,
): Promise<PostgresServer> {
  const kept = await keptFolder(name, version, async (folder) => {
    const server = await openPostgres(folder, SETTINGS)
    await server.start()
    try {
      await fill(server)
    } finally {
      await server.stop()
    }
  })
  const server = await openPostgres(kept, SETTINGS)
  await server.start()
  return server
}
