import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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

/**
 * Returns the module of the engine, and installs it if this machine does not have it.
 *
 * @throws when the engine does not run on this platform, or after three failed downloads
 */
export function installClickhouseEngine(): string {
  const platform = `${process.platform}-${process.arch}`
  if (platform !== 'linux-x64') throw new Error(`no engine of ClickHouse runs on ${platform}`)
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const parent = path.join(cache, 'terse-tests')
  const folder = path.join(parent, `chdb-${VERSION}`)
  if (!existsSync(folder)) {
    mkdirSync(parent, { recursive: true })
    const partial = mkdtempSync(path.join(parent, 'partial-'))
    try {
      download(partial)
      move(partial, folder)
    } finally {
      rmSync(partial, { recursive: true, force: true })
    }
  }
  return path.join(folder, 'node_modules', PACKAGE.name, 'index.js')
}

function download(folder: string): void {
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
    try {
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
      execFileSync('npm', ['ci', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
      return
    } catch (error) {
      if (tries === INSTALL_TRIES) {
        throw new Error('the engine of ClickHouse could not be installed', { cause: error })
      }
    }
  }
}

function move(partial: string, folder: string): void {
  try {
    renameSync(partial, folder)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(folder)) throw error
  }
}
