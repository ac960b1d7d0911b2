import { readFileSync } from 'node:fs'
import path from 'node:path'

const NODE_MODULES = 'node_modules/'

/** A package in the lockfile, as far as it is used here. */
export type LockedPackage = {
  readonly version?: string
  readonly license?: string
  readonly link?: true
  /** Only needed to develop. */
  readonly dev?: true
  readonly optional?: true
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** All packages of a lockfile by their folders, such as `node_modules/zod`. */
export type Lockfile = ReadonlyMap<string, LockedPackage>

/** Reads the packages that are locked in a repository. */
export function readLockfile(root: string): Lockfile {
  const text = readFileSync(path.join(root, 'package-lock.json'), 'utf8')
  return new Map(Object.entries(JSON.parse(text).packages))
}

/**
 * Returns the folders of the packages that these folders need to run, without the packages of this
 * repository itself.
 */
export function closureOf(lockfile: Lockfile, roots: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  const waiting = [...roots]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (seen.has(folder)) continue
    seen.add(folder)
    const { dependencies, optionalDependencies, peerDependencies } = lockfile.get(folder) ?? {}
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    const from = folder
    waiting.push(...names.flatMap((name) => folderOf(lockfile, from, name) ?? []))
  }
  return [...seen].filter((folder) => folder.startsWith(NODE_MODULES)).sort()
}

/** Returns the folder that Node.js finds for a package name; undefined if it is not installed. */
function folderOf(lockfile: Lockfile, from: string, name: string): string | undefined {
  for (let place = from; ; place = path.posix.dirname(place)) {
    if (path.posix.basename(place) === 'node_modules') continue
    const folder = path.posix.join(place === '.' ? '' : place, NODE_MODULES, name)
    const found = lockfile.get(folder)
    if (found !== undefined && found.link === undefined) return folder
    if (place === '.' || place === '') return undefined
  }
}

/** Returns a package's name from its folder. */
export function packageNameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf(NODE_MODULES) + NODE_MODULES.length)
}
