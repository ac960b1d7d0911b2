import { globSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

type Group = {
  readonly patterns: readonly string[]
  /** Into how many processes its files are divided. */
  readonly parts: number
}

/**
 * Test files that share processes. Their service runs in the test's own process: a process for each file would load
 * it, and compile what is called often, once for each.
 */
export const GROUPS: Readonly<Record<string, Group>> = {
  http: { patterns: ['test/http/**/*.test.ts'], parts: 5 },
  imports: { patterns: ['test/imports/**/*.test.ts'], parts: 1 },
  people: { patterns: ['test/people/**/*.test.ts'], parts: 2 },
  redirects: { patterns: ['test/{clicks,redirect}/**/*.test.ts'], parts: 2 },
  storage: { patterns: ['test/{backup,compose,config,operating,storage}/**/*.test.ts'], parts: 4 },
  unit: { patterns: ['src/**/*.test.ts', 'web/src/**/*.test.ts'], parts: 2 },
}

/** Returns the file names below `test/groups`, one for each process. */
export function groupFiles(): readonly string[] {
  return Object.entries(GROUPS).flatMap(([name, { parts }]) =>
    Array.from({ length: parts }, (_, index) => `${name}-${index + 1}.test.ts`),
  )
}

/**
 * Runs the tests of one part of a group in this process.
 *
 * @param url the module of the part, such as `test/groups/http-2.test.ts`: every fifth file, from the second on
 */
export function runGroup(url: string): void {
  const [name = '', part] = path.basename(url, '.test.ts').split('-')
  const group = GROUPS[name]
  if (group === undefined) throw new Error(`no such group: ${name}`)
  // `npm run test:unit` has no global set-up, which does this for other test files.
  enableCompileCache(path.join(ROOT, 'node_modules/.cache/terse'))
  const files = group.patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()
  const loading = load(files.filter((_, index) => index % group.parts === Number(part) - 1))
  // Tests run one after the other: without this one, the first would run while other files are loaded.
  test(`the files of ${name}-${part} are loaded`, () => loading)
}

async function load(files: readonly string[]): Promise<void> {
  for (const file of files) await import(pathToFileURL(path.join(ROOT, file)).href)
}
