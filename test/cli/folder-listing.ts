import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** Lists every file below a folder with its mode and contents, to detect any change. */
export function listFolder(folder: string): Record<string, string> {
  const listing: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.join(folder, name)
    const { mode } = statSync(file)
    const isFile = statSync(file).isFile()
    const contents = isFile
      ? createHash('sha256').update(readFileSync(file)).digest('hex')
      : 'folder'
    listing[name] = `${(mode & 0o777).toString(8)} ${contents}`
  }
  return listing
}
