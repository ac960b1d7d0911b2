import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Prints the packages that a module loads with its static imports. */
const LIST_PACKAGES = `
  import { registerHooks } from 'node:module'
  const packages = new Set()
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
      if (name !== undefined) packages.add(name)
      return next(url, context)
    },
  })
  await import(process.argv[1])
  process.stdout.write(JSON.stringify([...packages]))
  process.exit()
`

async function packagesOf(file: string): Promise<readonly string[]> {
  const url = import.meta.resolve(`../../src/${file}`)
  const args = ['--input-type=module', '--eval', LIST_PACKAGES, url]
  const { stdout } = await run(process.execPath, args)
  return JSON.parse(stdout)
}

const CLICKHOUSE = '@clickhouse/client'
const FRAMEWORKS = [CLICKHOUSE, 'fastify', 'fastify-type-provider-zod', 'kysely', 'pg', 'zod']

describe('loading', () => {
  const cases = [
    { file: 'redirects/handler.ts', loads: 'tldts', loadsNot: FRAMEWORKS },
    // The API and the store of one engine are loaded later: a node redirects before.
    { file: 'app/node/node.ts', loads: 'mmdb-lib', loadsNot: FRAMEWORKS },
    // Clicks in ClickHouse are for those who set it.
    { file: 'app/database/sqlite/open.ts', loads: 'kysely', loadsNot: [CLICKHOUSE, 'pg'] },
    { file: 'app/database/postgres/open.ts', loads: 'pg', loadsNot: [CLICKHOUSE] },
    { file: 'clicks/store/open-click-writer.ts', loads: 'pg', loadsNot: [CLICKHOUSE] },
    { file: 'app/cli/program.ts', loads: 'commander', loadsNot: ['fastify', 'kysely', 'pg'] },
  ]
  for (const { file, loads, loadsNot } of cases) {
    test(`${file} loads none of ${loadsNot.join(', ')}`, async () => {
      const packages = await packagesOf(file)
      assert.ok(packages.includes(loads), `it loads ${packages.join(', ')}`)
      assert.deepEqual(
        packages.filter((name) => loadsNot.includes(name)),
        [],
      )
    })
  }
})
