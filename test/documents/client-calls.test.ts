import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CLIENT_START, clientCall } from '../../src/app/api/reference/calls.ts'
import { type ApiDescription, operationsOf } from '../../src/app/api/reference/description.ts'
import { createFolder } from '../support/engines.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DESCRIPTION: ApiDescription = JSON.parse(
  readFileSync(path.join(ROOT, 'docs/openapi.json'), 'utf8'),
)
const COMPILER_OPTIONS = {
  ...{ target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], types: [], noEmit: true },
  ...{ module: 'esnext', moduleResolution: 'bundler', allowImportingTsExtensions: true },
  ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
  paths: { '@terse/client': [path.join(ROOT, 'client/src/index.ts')] },
}

test('the calls of the typed client in the reference fit the types of the client', async (t) => {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const calls = operationsOf(DESCRIPTION).map((operation) => clientCall(operation, DESCRIPTION))
  const program = `${CLIENT_START}\ndeclare const bytes: ArrayBuffer\n{\n${calls.join('\n}\n{\n')}\n}\n`
  writeFileSync(path.join(folder, 'calls.ts'), program)
  const config = { compilerOptions: COMPILER_OPTIONS, include: ['calls.ts'] }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = path.join(ROOT, 'node_modules/.bin/tsc')
  const compiled = promisify(execFile)(compiler, ['-p', folder])
  await compiled.catch(({ stdout }) => assert.fail(`${stdout}\n${program}`))
})
