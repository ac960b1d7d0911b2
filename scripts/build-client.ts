import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeClientTypes } from './client-types.ts'

/** Builds the package of the typed client into client/dist: JavaScript and types that need no TypeScript sources. */
const CLIENT = fileURLToPath(new URL('../client', import.meta.url))
const DIST = path.join(CLIENT, 'dist')

await writeClientTypes()
rmSync(DIST, { recursive: true, force: true })
execFileSync(path.join(CLIENT, 'node_modules/.bin/tsc'), ['-p', CLIENT], { stdio: 'inherit' })
const manifest = JSON.parse(readFileSync(path.join(CLIENT, 'package.json'), 'utf8'))
const { devDependencies, private: _private, ...published } = manifest
published.exports = { '.': { types: './index.d.ts', default: './index.js' } }
writeFileSync(path.join(DIST, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
for (const file of ['client/README.md', 'LICENSE']) {
  cpSync(path.join(CLIENT, '..', file), path.join(DIST, path.basename(file)))
}
process.stdout.write(`terse: built the client: ${DIST}\n`)
