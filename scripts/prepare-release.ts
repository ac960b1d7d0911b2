import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  releaseChangelog,
  requireLaterVersion,
  VERSIONED_FILES,
  withVersion,
} from './package/release-version.ts'

/** Sets the version in all files that name it, and gives the unreleased changes that version and a date. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CHANGELOG = 'CHANGELOG.md'

const [next = ''] = process.argv.slice(2)
const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8')
const { version } = JSON.parse(read('package.json'))
requireLaterVersion(next, version)
const date = new Date().toISOString().slice(0, 10)
const files = new Map(
  VERSIONED_FILES.map((name) => [name, withVersion(name, read(name), version, next)]),
)
files.set(CHANGELOG, releaseChangelog(read(CHANGELOG), next, date))
for (const [name, text] of files) writeFileSync(path.join(ROOT, name), text)
process.stdout.write(`${version} is ${next} now. Run: npm run generate\n`)
