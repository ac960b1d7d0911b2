import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Lints the API description with Redocly's recommended rules, generates two clients from it, and
 * compiles them with a program that uses both. Its packages are installed from their own lockfile
 * in a temporary folder: nothing else needs these 83 MB, and the generators cannot use TypeScript
 * 7.
 */
const TOOLS = fileURLToPath(new URL('./api-clients', import.meta.url))
const DESCRIPTION = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

/** The library instead of Redocly's command, which sends usage data to its maker. */
const LINT = `
import { readFileSync } from 'node:fs'
import { createConfig, formatProblems, getTotals, lintFromString } from '@redocly/openapi-core'
const source = readFileSync('openapi.json', 'utf8')
const config = await createConfig({ extends: ['recommended'] })
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '' })
  process.exitCode = 1
}
`

const TSC =
  'tsc --strict --noEmit --target es2022 --lib es2022,dom,dom.iterable --module esnext --moduleResolution bundler use-clients.ts'

const STEPS = [
  { name: 'install', command: 'npm ci --ignore-scripts --no-audit --no-fund' },
  { name: 'Redocly, recommended rules', command: 'node lint.mjs' },
  {
    name: 'openapi-typescript',
    command: 'openapi-typescript openapi.json --output openapi-typescript.ts',
  },
  {
    name: '@hey-api/openapi-ts',
    command: 'openapi-ts --input openapi.json --output hey-api',
  },
  { name: 'both clients under --strict', command: TSC },
]

const folder = mkdtempSync(path.join(tmpdir(), 'terse-api-clients-'))
try {
  cpSync(TOOLS, folder, { recursive: true })
  cpSync(DESCRIPTION, path.join(folder, 'openapi.json'))
  writeFileSync(path.join(folder, 'lint.mjs'), LINT)
  renameSync(path.join(folder, 'use-clients.ts.txt'), path.join(folder, 'use-clients.ts'))
  for (const { name, command } of STEPS) {
    if (!succeeds(name, command)) {
      process.exitCode = 1
      break
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}

function succeeds(name: string, command: string): boolean {
  const [program = '', ...args] = command.split(' ')
  const bin = path.join(folder, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'}  ${name}\n`)
  if (status !== 0) process.stdout.write(`${stdout}${stderr}${error?.message ?? ''}\n`)
  return status === 0
}
