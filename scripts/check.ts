import { spawn } from 'node:child_process'

/** Every check of the code besides its tests. They run in parallel. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'ci', '--colors=off', '--error-on-warnings', '.'] },
  { name: 'types', command: ['tsc'] },
  { name: 'types of the dashboard', command: ['tsc', '-p', 'web'] },
  { name: 'types of the extension', command: ['tsc', '-p', 'extension'] },
  {
    name: 'import rules',
    command: [
      'depcruise',
      'src',
      'client/src',
      'contract',
      'extension/src',
      'web/src',
      '--no-progress',
      '--output-type',
      'err',
    ],
  },
  { name: 'dead code', command: ['knip'] },
  { name: 'documents', command: ['node', 'scripts/check-documents.ts'] },
  { name: 'size of the dashboard', command: ['node', 'web/check-size.ts'] },
  { name: 'generated files', command: ['node', 'scripts/generate.ts', '--check'] },
]

type Outcome = { name: string; code: number; output: string; seconds: number }

function run({ name, command }: (typeof CHECKS)[number]): Promise<Outcome> {
  const [program = '', ...args] = command
  const startedMs = performance.now()
  return new Promise((resolve) => {
    let output = ''
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', (data) => {
      output += data
    })
    child.stderr.on('data', (data) => {
      output += data
    })
    const end = (code: number) =>
      resolve({ name, code, output, seconds: (performance.now() - startedMs) / 1_000 })
    child.on('error', (error) => {
      output += error.message
      end(1)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

const outcomes = await Promise.all(CHECKS.map(run))
for (const { name, code, output, seconds } of outcomes) {
  process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds.toFixed(1)} s)\n`)
  if (code !== 0) process.stdout.write(`${output}\n`)
}
process.exitCode = outcomes.some(({ code }) => code !== 0) ? 1 : 0
