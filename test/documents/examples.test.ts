import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import type { Command } from 'commander'
import { buildProgram } from '../../src/app/cli/program.ts'
import { VARIABLES } from '../../src/app/config/settings.ts'
import { processTerminal } from '../../src/platform/cli/terminal.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { PAGES } from './page-settings.ts'
import { openPageShell, type PageShell } from './page-shell.ts'
import {
  commandsOf,
  documents,
  type Example,
  ROOT,
  readExamples,
  type TypedCommand,
} from './read-examples.ts'
import { isShown } from './shown-output.ts'

/** Languages of blocks that a reader types into a shell. */
const TYPED = new Set(['sh', 'console'])
/** Clicks are counted, domains checked and imports run a moment later than the request before. */
const LATER_MS = 60_000

const EXAMPLES = documents().flatMap((page) => readExamples(page))
const TYPED_EXAMPLES = EXAMPLES.filter(({ language }) => TYPED.has(language))
const isMarked = ({ notRun, runBy }: Example) => notRun !== undefined || runBy !== undefined
const RUN = Object.groupBy(
  TYPED_EXAMPLES.filter((example) => !isMarked(example)),
  ({ page }) => page,
)

/** A request that only reads may be sent again until its answer is what the page shows. */
function isRepeatable({ typed, shown }: TypedCommand): boolean {
  return shown !== undefined && /^curl (?!.* -[dXo]\b)/s.test(typed)
}

async function run(shell: PageShell, { typed, shown }: TypedCommand): Promise<void> {
  const { output, failed } = await shell.type(typed)
  const printed = `\n${typed}\nprinted:\n${output}`
  if (shown === undefined) assert.equal(failed, undefined, printed)
  else assert.ok(isShown(shown, output), `${printed}\nbut the page shows:\n${shown}`)
}

/** Returns the command lines of Terse in a block, each as its words. */
function terseCommands({ text }: Example): readonly (readonly string[])[] {
  return [...text.replaceAll('\\\n', ' ').matchAll(/^(?:\$ )?(?:npx )?terse (.*)$/gm)].map(
    ([, line = '']) => line.replace(/ +(?:#|2?>|\|).*$/, '').match(/"[^"]*"|\S+/g) ?? [],
  )
}

/** The command line, each command of which does nothing. */
function idleProgram(): Command {
  const idle = (command: Command): Command => {
    command.action(() => undefined)
    for (const child of command.commands) idle(child)
    return command
  }
  return idle(buildProgram(processTerminal()))
}

describe('the examples of the documents', { concurrency: 2 }, () => {
  const skip = skipWithout('curl', 'oathtool')
  for (const [page, examples = []] of Object.entries(RUN)) {
    test(`of ${page} work in order in a fresh instance, and print what the page shows`, {
      skip,
    }, async (t) => {
      const shell = await openPageShell(PAGES[page])
      t.after(() => shell.close())
      for (const example of examples) {
        for (const command of commandsOf(example)) {
          const once = () => run(shell, command)
          await (isRepeatable(command) ? eventually(once, LATER_MS) : once()).catch((error) => {
            throw new Error(`${page}:${example.line}: ${error.message}`)
          })
        }
      }
    })
  }

  test('name their language, and the reason why they are not run or the test that runs them', () => {
    for (const { page, line, language } of EXAMPLES) {
      assert.notEqual(language, '', `${page}:${line}: name a language; text, if it is none`)
    }
    for (const { page, line, notRun, runBy } of TYPED_EXAMPLES) {
      const where = `${page}:${line}`
      const files = (runBy ?? notRun ?? '').match(/[\w/.-]+\.test\.ts/g) ?? []
      if (runBy !== undefined) assert.equal(files.length, 1, where)
      for (const file of files) assert.ok(existsSync(path.join(ROOT, file)), `${where}: no ${file}`)
      if (runBy !== undefined)
        assert.ok(readFileSync(path.join(ROOT, runBy), 'utf8').includes(page), where)
    }
  })

  test('that are not run have commands and options of the command line', async () => {
    for (const example of TYPED_EXAMPLES.filter(isMarked)) {
      for (const words of terseCommands(example)) {
        await assert.doesNotReject(
          async () => idleProgram().parseAsync([...words], { from: 'user' }),
          `${example.page}:${example.line}: terse ${words.join(' ')}`,
        )
      }
    }
  })

  test('of settings name settings of the service, or of the Compose file', () => {
    const compose = readFileSync(path.join(ROOT, 'deploy/compose.yaml'), 'utf8').matchAll(
      /\$\{(TERSE_\w+)/g,
    )
    const known = new Set([...VARIABLES.keys(), ...[...compose].map(([, name]) => name)])
    const settings = EXAMPLES.filter(
      ({ language, text }) => language === 'ini' && text.startsWith('TERSE_'),
    )
    assert.ok(settings.length > 3)
    for (const { page, line, text } of settings) {
      for (const name of Object.keys(parseEnv(text)))
        assert.ok(known.has(name), `${page}:${line}: ${name}`)
    }
  })
})
