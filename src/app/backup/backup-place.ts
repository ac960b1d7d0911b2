import { existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/** Returns the label of a target, as its records name it, without opening it. */
export function targetLabel(target: string): string {
  return target.includes('://') ? target : path.resolve(target)
}

/**
 * Refuses a place in the data folder or around it: what destroys the data would destroy its backups. Folders are
 * compared by their identity, which symbolic links and mounts do not hide.
 *
 * @throws with what to do
 */
export function refuseOwnFolder(dataDir: string, target: string): void {
  if (target.includes('://')) return
  const place = path.resolve(target)
  const reason = liesIn(place, dataDir)
    ? `is in the data folder ${dataDir}`
    : `has the data folder ${dataDir} in it`
  if (!liesIn(place, dataDir) && !liesIn(dataDir, place)) return
  throw new Error(
    `Backups cannot be stored in ${place}, which ${reason}: what destroys the data would destroy them. Name a folder on another disk (in a container, of a second volume), or a bucket.`,
  )
}

function liesIn(inner: string, outer: string): boolean {
  const identity = identityOf(canonical(outer))
  for (let folder = canonical(inner); ; folder = path.dirname(folder)) {
    if (identityOf(folder) === identity) return true
    if (folder === path.dirname(folder)) return false
  }
}

/** Returns the path without symbolic links; a part that does not exist yet stays as it is. */
function canonical(folder: string): string {
  const parent = path.dirname(folder)
  if (existsSync(folder) || parent === folder) return realpathSync(folder)
  return path.join(canonical(parent), path.basename(folder))
}

function identityOf(folder: string): string {
  if (!existsSync(folder)) return folder
  const { dev, ino } = statSync(folder, { bigint: true })
  return `${dev}:${ino}`
}

/** The nearest folder that exists: a backup creates those that are missing. */
export function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}
