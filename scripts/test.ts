import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { FORM } from '../test/support/long-form.ts'

/**
 * Runs the tests: all of them, or those of the given words and files.
 *
 *   node scripts/test.ts [--unit | --all | --faults | --clickhouse] [--list] [word or file …]
 */

type Group = {
  readonly name: string
  /** What the paths of its files start with. A file is in the first group that names it. */
  readonly paths: readonly string[]
  /** Into how many processes its files are divided; each file has its own when left out. */
  readonly processes?: number
}

/**
 * In the order in which they start. A process that loads the service and compiles what is called often costs two
 * seconds of processor time, so files share one, except those that take most of a minute each.
 */
const GROUPS: readonly Group[] = [
  { name: 'long', paths: ['test/acme/', 'test/documents/', 'test/fuzz/', 'test/install/'] },
  { name: 'browser', paths: ['test/browser/'], processes: 4 },
  { name: 'http', paths: ['test/http/'], processes: 5 },
  { name: 'fault', paths: ['test/fault/'], processes: 6 },
  { name: 'people', paths: ['test/people/'], processes: 2 },
  { name: 'imports', paths: ['test/imports/'], processes: 2 },
  { name: 'redirects', paths: ['test/clicks/', 'test/redirect/'], processes: 2 },
  {
    name: 'storage',
    paths: ['test/backup/', 'test/compose/', 'test/config/', 'test/operating/', 'test/storage/'],
    processes: 4,
  },
  { name: 'cli', paths: ['test/cli/'], processes: 3 },
  { name: 'unit', paths: ['src/', 'web/src/', 'extension/src/'], processes: 3 },
  // All other folders are small.
  { name: 'others', paths: ['test/'], processes: 3 },
]

/** What else belongs to a noun: words of the paths of its tests. */
const NOUNS: Readonly<Record<string, readonly string[]>> = {
  links: ['keys', 'tags', 'utm', 'list', 'qr'],
  clicks: ['click', 'visits', 'journal', 'drain', 'analytics'],
  domains: ['hosts', 'dns', 'claims'],
  identity: ['people', 'sign', 'token', 'workspace', 'quotas', 'scopes', 'roles', 'profile'],
  certificates: ['acme', 'tls', 'https'],
  redirects: ['redirect', 'visitor', 'visits'],
}

/** Take minutes, so a word selects them only if it is their folder's name. */
const SLOW = ['fault', 'browser']

/** Have long forms of hours, which keep the machine busy: one process at a time. */
const FAULTS = ['test/fault/', 'test/imports/killed-import.test.ts']

/** Run with an engine of 540 MB, which is installed on demand. */
const CLICKHOUSE_ONLY = 'test/clickhouse/'
/** What `--clickhouse` runs when it is given no word: also suites of all engines, with clicks in ClickHouse. */
const CLICKHOUSE_SUITES = [
  CLICKHOUSE_ONLY,
  'test/http/clicks-',
  'test/http/imported-clicks.test.ts',
  'test/http/labels.test.ts',
  'test/http/variants.test.ts',
  'test/http/webhooks.test.ts',
  'test/people/erasure.test.ts',
  'test/storage/click-feed.test.ts',
  'test/storage/click-reports.test.ts',
]

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Ends a test that hangs. One that takes a minute of processor time takes several on a busy machine. */
const TIMEOUT_MS = 600_000
const LONG_TIMEOUT_MS = 7_200_000
/** More than cores: much of what runs waits for other processes. */
const CONCURRENCY = 5

type Process = { readonly name: string; readonly files: readonly string[] }

function isSelected(file: string, word: string): boolean {
  if (word.includes('/')) return file.startsWith(path.relative(ROOT, path.resolve(word)))
  if (SLOW.some((folder) => folder !== word && file.startsWith(`test/${folder}/`))) return false
  const words = [word, word.replace(/s$/, ''), ...(NOUNS[word] ?? [])]
  return file.split(/[/.-]/).some((part) => words.includes(part))
}

/** Divides files among processes, in the order in which they start. */
function divide(files: readonly string[]): readonly Process[] {
  const left = new Set(files)
  return GROUPS.flatMap(({ name, paths, processes }) => {
    const own = [...left].filter((file) => paths.some((start) => file.startsWith(start))).sort()
    for (const file of own) left.delete(file)
    if (processes === undefined) return own.map((file) => ({ name: file, files: [file] }))
    const count = Math.min(processes, own.length)
    return Array.from({ length: count }, (_, nth) => ({
      name: `${name}-${nth + 1}`,
      files: own.filter((_file, index) => index % count === nth),
    }))
  })
}

/** Returns the module that a process runs: its only file, or one that imports its files. */
function moduleOf({ name, files }: Process, folder: string): string {
  const [first = '', second] = files
  if (second === undefined) return path.join(ROOT, first)
  const module = path.join(folder, `${name}.mjs`)
  const urls = files.map((file) => pathToFileURL(path.join(ROOT, file)).href)
  writeFileSync(module, urls.map((url) => `import ${JSON.stringify(url)}\n`).join(''))
  return module
}

type Options = { readonly concurrency?: number; readonly timeoutMs?: number }

/** Runs processes and prints their results. A failed test sets the exit code. */
async function runTests(
  processes: readonly Process[],
  { concurrency = CONCURRENCY, timeoutMs = TIMEOUT_MS }: Options = {},
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-tests-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const results = run({
    files: processes.map((each) => moduleOf(each, folder)),
    ...{ cwd: ROOT, concurrency, timeout: timeoutMs },
  })
  results.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  await pipeline(results.compose(spec), process.stdout, { end: false })
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: 'boolean' },
    faults: { type: 'boolean' },
    all: { type: 'boolean' },
    clickhouse: { type: 'boolean' },
    list: { type: 'boolean' },
  },
})

const files = globSync('{src,test,web/src,extension/src}/**/*.test.ts', { cwd: ROOT })
  .filter((file) => values.clickhouse || !file.startsWith(CLICKHOUSE_ONLY))
  .sort()
const isUnit = (file: string) => !file.startsWith('test/')
const isFault = (file: string) => FAULTS.some((start) => file.startsWith(start))

function select(): readonly string[] {
  if (values.unit) return files.filter(isUnit)
  if (values.faults) return files.filter(isFault)
  if (values.clickhouse && positionals.length === 0) {
    return files.filter((file) => CLICKHOUSE_SUITES.some((start) => file.startsWith(start)))
  }
  if (positionals.length === 0) return files
  return files.filter((file) => positionals.some((word) => isSelected(file, word)))
}

async function main(): Promise<void> {
  const selected = select()
  if (selected.length === 0) {
    process.stderr.write(`no test file has "${positionals.join('" or "')}" in its path\n`)
    process.exitCode = 1
    return
  }
  if (values.list) {
    for (const { files } of divide(selected)) process.stdout.write(`${files.join(' ')}\n`)
    return
  }
  process.env.NODE_COMPILE_CACHE ??= path.join(ROOT, 'node_modules/.cache/terse')
  if (selected.every(isUnit)) return await runTests(divide(selected))
  await import('./build-program.ts')
  const { globalSetup, globalTeardown, startClickhouse } = await import(
    '../test/support/global-setup.ts'
  )
  const isLong = values.all || values.faults
  if (isLong) process.env[FORM] = 'long'
  await globalSetup()
  if (values.clickhouse) await startClickhouse()
  if (!isLong) {
    await runTests(divide(selected))
  } else {
    const others = selected.filter((file) => !isFault(file))
    if (others.length > 0) await runTests(divide(others), { timeoutMs: LONG_TIMEOUT_MS })
    const faults = selected.filter(isFault)
    await runTests(divide(faults), { concurrency: 1, timeoutMs: LONG_TIMEOUT_MS })
  }
  await globalTeardown()
}

await main()
