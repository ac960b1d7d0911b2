import { cpSync, existsSync, globSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { apiClient, expectStatus } from '../../test/support/api.ts'
import { HOST } from '../load/traffic.ts'
import { createToken } from './create-token.ts'
import { createDataFolder, DATA_ROOT } from './data-folder.ts'
import { fillWithLinks } from './many-links.ts'
import { startTerse } from './server-process.ts'
import { hashOf } from './source-hash.ts'

/** What decides how such a database looks: where one of these changes, it is built anew. */
const SOURCES = [
  'src/storage/migrations/*.ts',
  'bench/support/many-links.ts',
  'bench/support/links-folder.ts',
]

/**
 * A new data folder whose database holds the links 1 to `count` of `load/traffic.ts`. Built once in
 * the tables that the service made, past the service, then kept and copied.
 */
export async function createLinksFolder(count: number): Promise<string> {
  const kept = path.join(DATA_ROOT, `links-${count}-${hashOf(SOURCES)}`)
  if (!existsSync(kept)) {
    const built = await buildLinksFolder(count)
    for (const outdated of globSync(path.join(DATA_ROOT, `links-${count}-*`))) {
      rmSync(outdated, { recursive: true })
    }
    renameSync(built, kept)
  }
  const folder = createDataFolder()
  cpSync(kept, folder, { recursive: true })
  return folder
}

async function buildLinksFolder(count: number): Promise<string> {
  const dataDir = createDataFolder()
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
  return dataDir
}
