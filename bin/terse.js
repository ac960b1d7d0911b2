#!/usr/bin/env node
// Runs the program with the Node.js that `npm ci` brought, whatever version the machine has.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))

const child = spawn(
  existsSync(bundled) ? bundled : process.execPath,
  [main, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
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
