import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/run-command.ts'
import { type Service, startService } from '../support/service.ts'

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
  { words: ['terse', 'link', 'list', '--domain', 'go'], has: ['go.example'], lacks: ['sale'] },
  { words: ['terse', 'link', 'create', '--tag', 'sa'], has: ['sale'], lacks: ['go.example'] },
]

/** Stands for the program, and has a tag that a shell would run. */
const LISTED = `#!/bin/sh
echo "$@" >> "$HOME/asked"
case "$*" in
  'listed domains '*) printf 'go.example\\n' ;;
  'listed tags '*) printf '%s\\n' sale 'sa$(touch "$HOME/ran")' 'sa\`touch "$HOME/ran"\`' ;;
esac
`

describe('terse completion', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-completion-'))
    mkdirSync(path.join(folder, 'bin'))
    writeFileSync(path.join(folder, 'bin', 'terse'), LISTED, { mode: 0o755 })
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
        const env = { ...process.env, HOME: folder, PATH: `${folder}/bin:${process.env.PATH}` }
        const shown = await run(shell, argsOf(script, words), { env, cwd: folder })
        const completed = shown.stdout.split('\n').map((line) => line.trim())
        for (const word of has) assert.ok(completed.includes(word), `${words}: ${completed}`)
        for (const word of lacks) assert.ok(!completed.includes(word), `${words}: ${word}`)
      }
      assert.ok(!existsSync(path.join(folder, 'ran')), 'runs nothing of what is listed')
      assert.match(readFileSync(path.join(folder, 'asked'), 'utf8'), /^listed domains -- (go)?$/m)
    })
  }

  test('refuses another shell', async () => {
    const { code, stderr } = await runCommand(['completion', 'tcsh'], {})
    assert.equal(code, 5)
    assert.match(stderr, /bash, zsh, fish/)
  })
})

describe('the lists of completion', () => {
  let service: Service
  let folder: string
  let env: Record<string, string>
  before(async () => {
    service = await startService(SQLITE)
    folder = mkdtempSync(path.join(tmpdir(), 'terse-listed-'))
    env = { XDG_CONFIG_HOME: folder }
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await service.stop()
  })

  const listed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['listed', ...args], env)
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  }

  test('are silently empty without a login', async () => {
    assert.equal(await listed('domains'), '')
    assert.equal(await listed('tags'), '')
  })

  test('have the domains and the tags of the service', async () => {
    const api = await service.api('acme')
    const links = Array.from({ length: 120 }, (_, nth) => ({
      ...{ domain: 'go.localhost', url: 'https://example.com/', tags: [`tag-${nth}`] },
    }))
    expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
    const token = await service.token('acme')
    assert.equal((await runCommand(['login', service.baseUrl], env, token)).code, 0)
    // What does not come within a second is left out, as on a busy machine.
    await eventually(async () => {
      assert.equal(await listed('domains'), `127.0.0.1\ngo.localhost\n`)
      assert.equal((await listed('tags')).trim().split('\n').length, 120)
      assert.equal(await listed('tags', '--', 'tag-119'), 'tag-119\n')
    })
  })

  test('are empty, and wait no longer than a second, where the service does not answer', async (t) => {
    let waitedMs: number | undefined
    const silent = createServer(({ socket }) => {
      const startedMs = performance.now()
      socket.on('close', () => {
        waitedMs = performance.now() - startedMs
      })
    })
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.after(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const { port } = silent.address() as AddressInfo
    const file = path.join(folder, 'terse', 'login.json')
    writeFileSync(file, JSON.stringify({ url: `http://127.0.0.1:${port}`, token: 'terse_x' }))
    assert.equal(await listed('tags'), '')
    const ms = await eventually(async () => waitedMs ?? assert.fail('the request is open'))
    assert.ok(ms < 15_000, `${ms} ms, where other commands wait for 30 s`)
  })
})
