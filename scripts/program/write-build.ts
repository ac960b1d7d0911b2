import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { Bundle } from './bundle.ts'

const CURRENT = 'current.json'
/** Processes may run an older build, and load parts of it later. */
const KEPT_MS = 86_400_000

/**
 * Writes a bundle into a folder of its own below `folder`, and then names it as the current one, for
 * `bin/built-program.js`. A killed build leaves the one before it in place.
 *
 * @param now in milliseconds
 */
export function writeBuild({ files, sources }: Bundle, folder: string, now = Date.now()): void {
  const name = hashOf(files)
  const built = path.join(folder, name)
  mkdirSync(folder, { recursive: true })
  if (!files.every((file) => isIntact(built, file))) {
    const next = `${built}.${process.pid}`
    mkdirSync(next)
    for (const file of files) writeFileSync(path.join(next, file.name), file.text)
    rmSync(built, { recursive: true, force: true })
    renameSync(next, built)
  }
  const current = path.join(folder, CURRENT)
  const kept = [name, CURRENT, readFolder(current)]
  const list = { folder: name, sources, files: scriptsIn(built, (file) => file.mtimeMs) }
  writeFileSync(`${current}.${process.pid}`, JSON.stringify(list))
  renameSync(`${current}.${process.pid}`, current)
  for (const other of readdirSync(folder)) {
    const file = path.join(folder, other)
    if (kept.includes(other) || now - statSync(file).mtimeMs < KEPT_MS) continue
    rmSync(file, { recursive: true, force: true })
  }
}

/**
 * Copies the current build to another place, where the sources never change: it is current there
 * for good.
 *
 * @param folder as in `writeBuild`
 */
export function copyBuild(folder: string, to: string): void {
  const name = readFolder(path.join(folder, CURRENT))
  if (name === undefined) throw new Error('the program is not built; run: npm run build')
  cpSync(path.join(folder, name), path.join(to, name), { recursive: true })
  // A package is unpacked with other modification times.
  const list = { folder: name, sources: {}, files: scriptsIn(path.join(to, name), () => null) }
  writeFileSync(path.join(to, CURRENT), JSON.stringify(list))
}

function isIntact(built: string, { name, text }: Bundle['files'][number]): boolean {
  const file = path.join(built, name)
  return existsSync(file) && readFileSync(file, 'utf8') === text
}

/** Returns the modification time and size of each script of a build, by which damage is noticed. Maps are not needed to run it. */
function scriptsIn(built: string, modifiedMs: (file: Stats) => number | null) {
  const names = readdirSync(built).filter((name) => name.endsWith('.js'))
  return Object.fromEntries(
    names.map((name) => {
      const stats = statSync(path.join(built, name))
      return [name, [modifiedMs(stats), stats.size]]
    }),
  )
}

function hashOf(files: Bundle['files']): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name}\0${text}\0`)
  return hash.digest('hex').slice(0, 16)
}

/** The folder of the current build; undefined when there is none. */
function readFolder(current: string): string | undefined {
  if (!existsSync(current)) return undefined
  return JSON.parse(readFileSync(current, 'utf8')).folder
}
