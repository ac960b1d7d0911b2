import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { journalsRoot } from '../../clicks/journal/journal-folder.ts'
import { userName } from '../../platform/process/user-name.ts'
import type { Config } from '../config/read-config.ts'

const ELSEWHERE = 'name another one with --data-dir or TERSE_DATA_DIR'

/**
 * Checks what a start needs of the file system, before the start creates anything there.
 *
 * @throws an error that says in one line what is wrong and what to do about it
 */
export function checkBeforeStart({ dataDir, countryDatabase, acme, tls }: Config): void {
  checkDataFolder(dataDir)
  checkFile('TERSE_COUNTRY_DATABASE', countryDatabase)
  if (tls !== undefined) checkFile('TERSE_ACME_CA_FILE', acme.caFile)
}

function checkDataFolder(dataDir: string): void {
  const existing = nearestExisting(dataDir)
  if (!statSync(existing).isDirectory()) {
    throw new Error(
      `The data folder ${dataDir} cannot be created: ${existing} is a file. Remove it, or ${ELSEWHERE}.`,
    )
  }
  if (existing !== dataDir) {
    const code = faultOf(existing, constants.W_OK | constants.X_OK)
    if (code === undefined) return
    throw new Error(
      `The user ${userName()} cannot create the data folder ${dataDir} (${code}). Create it and give it to that user, or ${ELSEWHERE}.`,
    )
  }
  for (const folder of [dataDir, journalsRoot(dataDir)].filter((each) => existsSync(each))) {
    const code = faultOf(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (code === undefined) continue
    throw new Error(
      `The user ${userName()} cannot write to the folder ${folder} (${code}). Give it to that user, or ${ELSEWHERE}.`,
    )
  }
}

/** Returns the folder or its nearest existing parent. A folder without access counts as missing. */
function nearestExisting(folder: string): string {
  const parent = path.dirname(folder)
  return existsSync(folder) || parent === folder ? folder : nearestExisting(parent)
}

function checkFile(variable: string, file: string | undefined): void {
  const code = file === undefined ? undefined : faultOf(file, constants.R_OK)
  if (code !== undefined) {
    throw new Error(
      `${variable} names a file that the user ${userName()} cannot read (${code}): ${file}`,
    )
  }
}

/** Returns the error code of an access that is not allowed; undefined when it is. */
function faultOf(file: string, mode: number): unknown {
  try {
    accessSync(file, mode)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
