import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { linksSchema } from '../src/remote/code/file-schema.ts'
import { idempotentPaths, writeClientTypes } from './client-types.ts'
import { FAULT_TABLES } from './faults-table.ts'
import { withNodeHashes } from './node-hashes.ts'
import { openApiDocument } from './openapi-document.ts'
import { portableLockfile } from './portable-lockfile.ts'
import { settingsTable } from './settings-table.ts'

/**
 * Writes the files, and parts of files, that are generated from the code. With `--check` it writes
 * nothing, and fails when one of them is out of date.
 */
const SETTINGS_PAGE = fileURLToPath(new URL('../docs/settings.md', import.meta.url))
const FAULTS_PAGE = fileURLToPath(new URL('../docs/faults.md', import.meta.url))
const OPENAPI = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const LINKS_SCHEMA = fileURLToPath(new URL('../docs/links-schema.json', import.meta.url))
const IDEMPOTENT = fileURLToPath(new URL('../client/src/idempotent-paths.ts', import.meta.url))
const LOCKFILE = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url))

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Returns a page with its tables, each between the marks of its name. */
function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
    if (!text.includes(begin) || to < from) throw new Error(`no marks of the table ${name}`)
    return `${text.slice(0, from)}${table}\n${text.slice(to)}`
  }, read(page))
}

const openApi = `${JSON.stringify(await openApiDocument(), null, 2)}\n`

const generated = [
  { file: SETTINGS_PAGE, text: withTables(SETTINGS_PAGE, { settings: settingsTable() }) },
  { file: FAULTS_PAGE, text: withTables(FAULTS_PAGE, FAULT_TABLES) },
  { file: LOCKFILE, text: portableLockfile(read(LOCKFILE)) },
  { file: MANIFEST, text: withNodeHashes(read(MANIFEST), read(LOCKFILE)) },
  { file: OPENAPI, text: openApi },
  { file: LINKS_SCHEMA, text: `${JSON.stringify(linksSchema(), null, 2)}\n` },
  { file: IDEMPOTENT, text: idempotentPaths(openApi) },
]

for (const { file, text } of generated) {
  if (read(file) === text) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is out of date; run: npm run generate\n`)
    process.exitCode = 1
  } else {
    writeFileSync(file, text)
  }
}

if (!process.argv.includes('--check')) await writeClientTypes()
