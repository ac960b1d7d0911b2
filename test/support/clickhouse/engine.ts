import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/**
 * The engine of ClickHouse as a library: chDB's native package without its JavaScript. It takes 540 MB, so it
 * is installed on demand, into a cache of its own, and no lockfile of Terse has it.
 */
const VERSION = '26.7.3-stable.1'

/** Of Linux on x64, with the hash of its file. */
const PACKAGE = {
  name: '@chdb/lib-linux-x64-gnu',
  integrity:
    'sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==',
} as const

const INSTALL_TRIES = 3
/** The package and, in npm's own cache, its archive. */
const FREE_BYTES_MIN = 1_000_000_000
const PARTIAL = 'partial-'
const DAY_MS = 86_400_000

/**
 * Returns the module of the engine, and installs it if this machine does not have it. Its folder appears in the cache when
 * npm has checked the hash and written all files, so what was interrupted is never used.
 *
 * @throws when the engine does not run on this platform, when the disk has no room for it, or after three failed downloads
 */
export function installClickhouseEngine(env: NodeJS.ProcessEnv = process.env): string {
  const platform = `${process.platform}-${process.arch}`
  if (platform !== 'linux-x64') throw new Error(`no engine of ClickHouse runs on ${platform}`)
  const cache = env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const parent = path.join(cache, 'terse-tests')
  const folder = path.join(parent, `chdb-${VERSION}`)
  if (!existsSync(folder)) {
    mkdirSync(parent, { recursive: true })
    removeLeft(parent)
    const partial = mkdtempSync(path.join(parent, PARTIAL))
    try {
      download(partial, env)
      move(partial, folder)
    } finally {
      rmSync(partial, { recursive: true, force: true })
    }
  }
  return path.join(folder, 'node_modules', PACKAGE.name, 'index.js')
}

/** Removes what killed installations have left. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PARTIAL)) continue
    const folder = path.join(parent, name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found === undefined || Date.now() - found.mtimeMs < DAY_MS) continue
    rmSync(folder, { recursive: true, force: true })
  }
}

function download(folder: string, env: NodeJS.ProcessEnv): void {
  const { name, integrity } = PACKAGE
  const root = { name: 'clickhouse-engine', dependencies: { [name]: VERSION } }
  const lock = {
    name: root.name,
    lockfileVersion: 3,
    packages: { '': root, [`node_modules/${name}`]: { version: VERSION, integrity } },
  }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...root, private: true }))
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock))
  process.stderr.write(`Installing the engine of ClickHouse: ${name} ${VERSION}, 540 MB\n`)
  for (let tries = 1; ; tries += 1) {
    checkRoom(folder)
    try {
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
      execFileSync('npm', ['ci', ...flags], {
        ...{ cwd: folder, env },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      return
    } catch (error) {
      if (tries === INSTALL_TRIES) {
        throw new Error('the engine of ClickHouse could not be installed', { cause: error })
      }
    }
  }
}

function checkRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= FREE_BYTES_MIN) return
  const [needed, found] = [FREE_BYTES_MIN, free].map((bytes) => `${Math.floor(bytes / 1e6)} MB`)
  throw new Error(`the engine of ClickHouse needs ${needed} in ${folder}, which has ${found}`)
}

function move(partial: string, folder: string): void {
  try {
    renameSync(partial, folder)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(folder)) throw error
  }
}
