import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from './openapi-document.ts'
import { settingsTable } from './settings-table.ts'

/**
 * Writes the files, and parts of files, that are generated from the code. With `--check` it writes
 * nothing, and fails when one of them is out of date.
 */
const README = fileURLToPath(new URL('../README.md', import.meta.url))
const OPENAPI = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const TABLE = /(<!-- settings -->\n)[\s\S]*(<!-- \/settings -->)/

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const readme = read(README)
const table = settingsTable()
const generated = [
  { file: README, text: readme.replace(TABLE, (_all, begin, end) => `${begin}${table}\n${end}`) },
  { file: OPENAPI, text: `${JSON.stringify(await openApiDocument(), null, 2)}\n` },
]
if (!TABLE.test(readme)) throw new Error('README.md has lost the marks around its settings table')

for (const { file, text } of generated) {
  if (read(file) === text) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is not what the code says; run: npm run generate\n`)
    process.exitCode = 1
  } else {
    writeFileSync(file, text)
  }
}
