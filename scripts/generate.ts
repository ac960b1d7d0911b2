import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withNodeHashes } from './node-hashes.ts'
import { openApiDocument } from './openapi-document.ts'
import { portableLockfile } from './portable-lockfile.ts'
import { settingsTable } from './settings-table.ts'

/**
 * Writes the files, and parts of files, that are generated from the code. With `--check` it writes
 * nothing, and fails when one of them is out of date.
 */
const SETTINGS_PAGE = fileURLToPath(new URL('../docs/settings.md', import.meta.url))
const OPENAPI = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const LOCKFILE = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url))
const TABLE = /(<!-- settings -->\n)[\s\S]*(<!-- \/settings -->)/

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const page = read(SETTINGS_PAGE)
const table = settingsTable()
const generated = [
  {
    file: SETTINGS_PAGE,
    text: page.replace(TABLE, (_all, begin, end) => `${begin}${table}\n${end}`),
  },
  { file: LOCKFILE, text: portableLockfile(read(LOCKFILE)) },
  { file: MANIFEST, text: withNodeHashes(read(MANIFEST), read(LOCKFILE)) },
  { file: OPENAPI, text: `${JSON.stringify(await openApiDocument(), null, 2)}\n` },
]
if (!TABLE.test(page)) throw new Error('docs/settings.md lacks the marks around its table')

for (const { file, text } of generated) {
  if (read(file) === text) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is out of date; run: npm run generate\n`)
    process.exitCode = 1
  } else {
    writeFileSync(file, text)
  }
}
