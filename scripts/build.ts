import { mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackage } from './package/build-package.ts'

/** Builds the npm package into dist/. A killed build leaves the one before it in place. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = path.join(ROOT, 'dist')

const startedMs = performance.now()
const next = `${DIST}.${process.pid}`
try {
  mkdirSync(next)
  buildPackage(ROOT, next)
  rmSync(DIST, { recursive: true, force: true })
  renameSync(next, DIST)
} catch (error) {
  rmSync(next, { recursive: true, force: true })
  throw error
}
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
process.stdout.write(`terse: built the package in ${seconds} s: ${DIST}\n`)
