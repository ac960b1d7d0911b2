import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { runCommand } from '../support/run-command.ts'

const run = promisify(execFile)

/** How to have each shell complete words; `words` are those before the cursor, the last one unfinished. */
const SHELLS: Readonly<Record<string, (script: string, words: readonly string[]) => string[]>> = {
  bash: (script, words) => [
    '--norc',
    '-c',
    `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _terse; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    ...words,
  ],
  zsh: (script, words) => [
    '-f',
    '-c',
    `compdef() { : }; _files() { : }; compadd() { shift; print -l -- "$@" }
     _describe() { local -a entries; entries=("\${(@P)2}"); print -l -- "\${(@)entries%%:*}" }
     source ${script}; words=("$@"); CURRENT=$#words; _terse`,
    'zsh',
    ...words,
  ],
  fish: (script, words) => [
    '--no-config',
    '-c',
    `source ${script}; complete -C "$argv" | string split -f1 \\t`,
    words.join(' '),
  ],
}

const CASES: { words: string[]; has: string[]; lacks: string[] }[] = [
  { words: ['terse', ''], has: ['link', 'export', 'stats'], lacks: ['worker', 'create'] },
  { words: ['terse', 'link', ''], has: ['create', 'qr'], lacks: ['export', 'quota'] },
  { words: ['terse', 'workspace', ''], has: ['quota', 'delete'], lacks: ['qr'] },
  { words: ['terse', 'link', 'create', '--ut'], has: ['--utm-source'], lacks: ['--scopes'] },
  { words: ['terse', 'export', '--format', ''], has: ['ndjson', 'csv-zip'], lacks: ['link'] },
]

describe('terse completion', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-completion-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [shell, argsOf] of Object.entries(SHELLS)) {
    test(`completes commands, options and values in ${shell}`, async (t) => {
      const { code, stdout } = await runCommand(['completion', shell], {})
      assert.equal(code, 0)
      const script = path.join(folder, `terse.${shell}`)
      writeFileSync(script, stdout)
      try {
        await run(shell, ['-c', 'true'])
      } catch {
        t.skip(`${shell} is not installed: apt-get install ${shell}`)
        return
      }
      for (const { words, has, lacks } of CASES) {
        const env = { ...process.env, HOME: folder }
        const shown = await run(shell, argsOf(script, words), { env, cwd: folder })
        const completed = shown.stdout.split('\n').map((line) => line.trim())
        for (const word of has) assert.ok(completed.includes(word), `${words}: ${completed}`)
        for (const word of lacks) assert.ok(!completed.includes(word), `${words}: ${word}`)
      }
    })
  }

  test('refuses another shell', async () => {
    const { code, stderr } = await runCommand(['completion', 'tcsh'], {})
    assert.equal(code, 1)
    assert.match(stderr, /bash, zsh, fish/)
  })
})
