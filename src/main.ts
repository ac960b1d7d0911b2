import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Beside the program: whoever can change what is kept there could change the program itself. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/terse', import.meta.url))

// Types are stripped and modules compiled once, not in every process: half of what a command costs. Where
// the folder cannot be written, each process does it for itself.
const { directory } = enableCompileCache({ directory: COMPILED })
// Threads, and processes that are started from here, look there for the folder.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory

// A static import would be compiled before the lines above.
const { runCli } = await import('./cli/run-cli.ts')
await runCli(process.argv.slice(2))
