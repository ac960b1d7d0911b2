import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { closureOf, readLockfile } from './locked-packages.ts'

const NODE_PACKAGE = /^node_modules\/node-(?:bin-)?([a-z]+-[a-z0-9]+)$/
/** What only compilers and debuggers read. Of the country database, the file for both versions of IP. */
const LEFT_OUT =
  /\.(?:map|[cm]?ts)$|\/node-[\w-]+\/(?:include|share|CHANGELOG\.md)$|-country\.mmdb$/

const LIBRARY = 'libatomic.so.1'
const LIBRARY_LICENCES = fileURLToPath(new URL('libatomic', import.meta.url))
const LIBRARY_NOTICE = `${LIBRARY} is part of GCC, unchanged: GPL-3.0-or-later with the GCC Runtime Library Exception 3.1.
Both texts are beside this file. Its source is at https://gcc.gnu.org. Node.js needs it; you may delete it where the
system has its own.
`

/**
 * Runs the program with the Node.js beside it, with as few arenas as `bin/terse.js` lets it have; `npm` would make
 * `terse.js` executable instead.
 */
const COMMAND = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-2}"
export LD_LIBRARY_PATH="$here/../lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/../node_modules/.bin/node" "$here/terse.js" "$@"
`

/**
 * Makes the folder of a release that runs without anything else: the package, the packages that it needs,
 * and Node.js for the platform of this machine.
 *
 * @param root the repository, after `npm ci`
 * @param built the npm package
 * @param folder does not exist yet
 * @throws if an installed package is not the locked version
 */
export function makeRelease(root: string, built: string, folder: string): void {
  cpSync(built, folder, { recursive: true })
  const lockfile = readLockfile(root)
  const platform = `${process.platform}-${process.arch}`
  for (const name of closureOf(lockfile, [''])) {
    const { version, dev, optional } = lockfile.get(name) ?? {}
    const [, nodePlatform] = NODE_PACKAGE.exec(name) ?? []
    if (dev || (optional && nodePlatform !== platform)) continue
    const manifest = JSON.parse(readFileSync(path.join(root, name, 'package.json'), 'utf8'))
    if (manifest.version !== version) {
      throw new Error(`${name} is ${manifest.version} and not ${version}; run: npm ci`)
    }
    cpSync(path.join(root, name), path.join(folder, name), {
      recursive: true,
      // Nested packages are in the lockfile themselves.
      filter: (file) => !LEFT_OUT.test(file) && !file.endsWith(path.join(name, 'node_modules')),
    })
    if (nodePlatform === undefined) continue
    mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true })
    const link = path.join('..', path.basename(name), 'bin/node')
    symlinkSync(link, path.join(folder, 'node_modules/.bin/node'))
    addLibrary(path.join(root, name, 'bin/node'), folder)
  }
  writeFileSync(path.join(folder, 'bin/terse'), COMMAND, { mode: 0o755 })
  cpSync(path.join(root, 'deploy'), path.join(folder, 'deploy'), { recursive: true })
}

/** Adds the one library of Node.js that a minimal Debian does not have. */
function addLibrary(node: string, folder: string): void {
  const needed = execFileSync('ldd', [node], { encoding: 'utf8' })
  const [, file] = new RegExp(`${LIBRARY.replaceAll('.', '\\.')} => (\\S+)`).exec(needed) ?? []
  if (file === undefined) return
  mkdirSync(path.join(folder, 'lib'))
  cpSync(realpathSync(file), path.join(folder, 'lib', LIBRARY))
  writeFileSync(path.join(folder, 'lib/README'), LIBRARY_NOTICE)
  cpSync(LIBRARY_LICENCES, path.join(folder, 'lib'), { recursive: true })
}

/** Returns what is in the npm package and what it needs, as CycloneDX 1.5 in JSON. */
export function billOfMaterials(built: string): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']
  return execFileSync('npm', args, { cwd: built, encoding: 'utf8', stdio: 'pipe' })
}

/**
 * Packs the folder of a release into an archive beside it, with its hash, and removes the folder.
 *
 * @param level of gzip: 1 is fastest
 */
export function packRelease(folder: string, level = 6): string {
  const archive = `${folder}.tar.gz`
  const args = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '-cf', archive]
  const compress = ['--use-compress-program', `gzip -${level}`]
  execFileSync('tar', [...compress, ...args, '-C', path.dirname(folder), path.basename(folder)])
  rmSync(folder, { recursive: true })
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
  writeFileSync(`${archive}.sha256`, `${hash}  ${path.basename(archive)}\n`)
  return archive
}
