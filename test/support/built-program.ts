import childProcess, { type ForkOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import workerThreads, { type WorkerOptions } from 'node:worker_threads'
import { findBuiltProgram } from '../../bin/built-program.js'

/**
 * Importing this module has threads and child processes of services in the test's own process run the built program, as
 * those of an installed service do: the sources of a drain thread take 0.14 s of processor time more to load. Without a
 * build of the present sources, which `npm test` makes, they run the sources.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = path.join(ROOT, 'src/')

const main = findBuiltProgram(ROOT)
if (main !== undefined) runBuilt(path.dirname(fileURLToPath(main)))

function runBuilt(folder: string): void {
  /** The build has the script of each thread and process under the name of its source. */
  const builtOf = (script: string | URL) => {
    if (script instanceof URL && script.protocol !== 'file:') return script
    const source = script instanceof URL ? fileURLToPath(script) : script
    if (!source.startsWith(SOURCES)) return script
    const built = path.join(folder, `${path.basename(source, '.ts')}.js`)
    return existsSync(built) ? built : script
  }
  const { Worker } = workerThreads
  workerThreads.Worker = class extends Worker {
    constructor(script: string | URL, options?: WorkerOptions) {
      super(builtOf(script), options)
    }
  }
  const { fork } = childProcess
  childProcess.fork = ((script: string | URL, args?: readonly string[], options?: ForkOptions) =>
    fork(builtOf(script), args, options)) as typeof fork
  syncBuiltinESMExports()
}
