import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackage } from '../../scripts/package/build-package.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the npm package with the dashboard of `npm ci`, packs it, and returns the archive's path. */
export function packPackage(folder: string): string {
  const built = path.join(folder, 'package')
  mkdirSync(built)
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-program.ts')])
  buildPackage(ROOT, built)
  const args = ['pack', '--silent', '--pack-destination', folder]
  const name = execFileSync('npm', args, { cwd: built, encoding: 'utf8', stdio: 'pipe' }).trim()
  return path.join(folder, name)
}

/**
 * Installs an archive into a new project, without the packages of Node.js: the tests run with one that is
 * the same. The packages come from npm's cache where `npm ci` has put them there.
 */
export function installPackage(archive: string, project: string): void {
  mkdirSync(project)
  writeFileSync(path.join(project, 'package.json'), '{}')
  const options = ['--prefer-offline', '--omit=optional', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options, archive], { cwd: project, stdio: 'pipe' })
}
