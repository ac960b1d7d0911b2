import { existsSync, renameSync } from 'node:fs'
import path from 'node:path'
import { openPostgres, type PostgresServer } from '../../test/support/postgres-server.ts'
import { createDataFolder, DATA_ROOT } from '../support/data-folder.ts'

/** As somebody would set it up who has so much data, on a machine of 24 GB that runs more than this. */
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
 * Starts PostgreSQL over data that is kept from one run to the next.
 * @param fill called the first time, with a server that has nothing in it
 */
export async function startKeptPostgres(
  name: string,
  fill: (server: PostgresServer) => Promise<void>,
): Promise<PostgresServer> {
  const kept = path.join(DATA_ROOT, name)
  if (!existsSync(kept)) {
    const folder = createDataFolder()
    const server = await openPostgres(folder, SETTINGS)
    await server.start()
    try {
      await fill(server)
    } finally {
      await server.stop()
    }
    renameSync(folder, kept)
  }
  const server = await openPostgres(kept, SETTINGS)
  await server.start()
  return server
}
