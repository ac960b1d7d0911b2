import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Hashes files, given by patterns from the project's folder: data are built again when the code
 * that creates them changes.
 */
export function hashOf(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  for (const pattern of patterns) {
    const files = globSync(fileURLToPath(new URL(`../../${pattern}`, import.meta.url)))
    for (const file of files.sort()) hash.update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 12)
}
