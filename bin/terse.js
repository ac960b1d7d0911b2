#!/usr/bin/env node
// Runs the program with the Node.js that `npm ci` brought, whatever version the machine has.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
// Beside the program: whoever can change what is kept there could change the program itself.
const compiled = fileURLToPath(new URL('../node_modules/.cache/terse', import.meta.url))

if (!existsSync(bundled) || realpathSync(process.execPath) === realpathSync(bundled)) await run()
else runWith(bundled)

async function run() {
  // Types are stripped and modules compiled once, not in every process: half of what a command costs.
  // Where the folder cannot be written, each process does it for itself.
  const { directory } = module.enableCompileCache({ directory: compiled })
  // Threads, and processes that are started from here, look there for the folder.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory
  // A static import would be compiled before the lines above.
  await import('../src/main.ts')
}

function runWith(node) {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`terse: Node.js cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
