import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { billOfMaterials, makeRelease, packRelease } from './package/build-tarball.ts'

/**
 * Writes the files of a release into release/: the archive for this platform with its hash, and the bill of
 * materials. It needs the package of `npm run build`. With `--folder`, writes only what would be in the archive.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = path.join(ROOT, 'dist')
const RELEASE = path.join(ROOT, 'release')

const { version } = JSON.parse(readFileSync(path.join(DIST, 'package.json'), 'utf8'))
const isFolder = process.argv.includes('--folder')
const name = isFolder ? 'terse' : `terse-${version}-${process.platform}-${process.arch}`
const folder = path.join(RELEASE, name)
mkdirSync(RELEASE, { recursive: true })
rmSync(folder, { recursive: true, force: true })
makeRelease(ROOT, DIST, folder)
if (!isFolder) {
  writeFileSync(path.join(RELEASE, `terse-${version}.cdx.json`), billOfMaterials(DIST))
}
process.stdout.write(`${isFolder ? folder : packRelease(folder)}\n`)
