import { existsSync, globSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createDataFolder, DATA_ROOT } from './data-folder.ts'

/**
 * A folder whose data take long to create, built once and kept from one run to the next.
 *
 * @param version identifies the data: when it differs, they are built again, and other versions
 *   under this name are deleted
 */
export async function keptFolder(
  name: string,
  version: string,
  build: (folder: string) => Promise<void>,
): Promise<string> {
  const kept = path.join(DATA_ROOT, `${name}-${version}`)
  if (existsSync(kept)) return kept
  for (const outdated of globSync(path.join(DATA_ROOT, `${name}-*`))) {
    rmSync(outdated, { recursive: true })
  }
  const folder = createDataFolder()
  await build(folder)
  renameSync(folder, kept)
  return kept
}
