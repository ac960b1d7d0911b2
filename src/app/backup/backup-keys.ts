import { readFileSync } from 'node:fs'
import { type Identities, parseIdentities } from '../../backup/index.ts'

/**
 * Returns the identities in a file of `age-keygen`; undefined for no file.
 *
 * @throws when it cannot be read or has none
 */
export function readIdentities(file: string | undefined): Identities | undefined {
  if (file === undefined) return undefined
  const keys = parseIdentities(readText(file, 'the age identity'))
  if (keys.length === 0) throw new Error(`${file} has no age identity (AGE-SECRET-KEY-…).`)
  return { keys, file }
}

/** @throws with the name of the file, and what should be in it */
function readText(file: string, content: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`The file with ${content} cannot be read: ${file} (${code}).`)
  }
}
