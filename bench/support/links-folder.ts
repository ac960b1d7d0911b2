import { cpSync } from 'node:fs'
import { apiClient, expectStatus } from '../../test/support/api.ts'
import { HOST } from '../load/traffic.ts'
import { createToken } from './create-token.ts'
import { createDataFolder } from './data-folder.ts'
import { keptFolder } from './kept-folder.ts'
import { fillWithLinks } from './many-links.ts'
import { startTerse } from './server-process.ts'
import { hashOf } from './source-hash.ts'

/** The sources that determine the database: when one changes, it is built again. */
const SOURCES = [
  'src/app/database/migrations/*.ts',
  'bench/support/many-links.ts',
  'bench/support/links-folder.ts',
]

/**
 * Creates a data folder whose database contains the links 1 to `count` of `load/traffic.ts`. It is
 * built once, directly in the tables that the service has created, then kept and copied.
 */
export async function createLinksFolder(count: number): Promise<string> {
  const kept = await keptFolder(`links-${count}`, hashOf(SOURCES), (dataDir) =>
    buildLinks(dataDir, count),
  )
  const folder = createDataFolder()
  cpSync(kept, folder, { recursive: true })
  return folder
}

async function buildLinks(dataDir: string, count: number): Promise<void> {
  const env = { TERSE_DATA_DIR: dataDir }
  const token = await createToken(env)
  const terse = await startTerse(env)
  try {
    const api = apiClient(`http://127.0.0.1:${terse.port}`, token)
    expectStatus(await api.post('/links', { domain: HOST, url: 'https://example.com/' }), 201)
  } finally {
    await terse.stop()
  }
  await fillWithLinks({ dataDir, databaseUrl: undefined }, count)
}
