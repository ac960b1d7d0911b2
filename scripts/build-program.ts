import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBuiltProgram } from '../bin/built-program.js'
import { writeClientTypes } from './client-types.ts'
import { writeBuild } from './program/write-build.ts'

/**
 * Builds the program into `build/`, unless it is built already: a start takes half of the time then. Writes what else
 * is generated and not in the repository. Without the development packages it does nothing, and the program runs from
 * its sources.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

if (existsSync(path.join(ROOT, 'node_modules/rolldown')) && findBuiltProgram(ROOT) === undefined) {
  const startedMs = performance.now()
  const { bundleProgram } = await import('./program/bundle.ts')
  writeBuild(await bundleProgram(ROOT), path.join(ROOT, 'build'))
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  process.stdout.write(`terse: built the program in ${seconds} s\n`)
}

await writeClientTypes()
