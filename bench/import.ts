/**
 * Imports 100,000 links from a CSV file by `terse import` into SQLite beside a running service, and creates links over
 * the API meanwhile. Prints the time of the import, its memory, and how long creates and redirects took.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { makeToken } from '../test/support/make-instance.ts'

const LINKS = Number(process.env.IMPORT_LINKS ?? 100_000)
const MAIN = path.resolve(import.meta.dirname, '../bin/terse.js')

const folder = mkdtempSync(path.join(tmpdir(), 'terse-bench-'))
const port = await freePort()
const env = {
  PATH: process.env.PATH ?? '',
  TERSE_DATA_DIR: path.join(folder, 'data'),
  TERSE_PORT: String(port),
  TERSE_HOST: '127.0.0.1',
  TERSE_BASE_URL: `http://localhost:${port}`,
  TERSE_RATE_LIMIT: '0',
  TERSE_LOG_LEVEL: 'error',
}
const { PATH, ...settings } = env
const token = await makeToken(settings)
const file = path.join(folder, 'links.csv')
const csv = createWriteStream(file)
csv.write('short link,destination,tags,created at\n')
for (let index = 0; index < LINKS; index += 1) {
  const line = `old.example/key-${index},https://example.com/page/${index}?from=old,"spring,mail",2024-05-06T07:08:09Z\n`
  if (!csv.write(line)) await new Promise((resolve) => csv.once('drain', resolve))
}
await new Promise((resolve) => csv.end(resolve))

const service = spawn(process.execPath, [MAIN, 'serve'], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
})
const origin = `http://127.0.0.1:${port}`
try {
  while (
    !(await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(50)
  await create('probe')
  const alone = await measure(() => false, 3_000)

  const startedMs = performance.now()
  const importing = spawn(
    process.execPath,
    [MAIN, 'import', 'csv', file, '--workspace', 'acme', '--domain', 'old.example=localhost'],
    { env, stdio: ['ignore', 'inherit', 'inherit'] },
  )
  let isDone = false
  let peakMiB = 0
  importing.once('exit', () => {
    isDone = true
  })
  const sampling = setInterval(async () => {
    const status = await readFile(`/proc/${importing.pid}/status`, 'utf8').catch(() => '')
    const kib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
    peakMiB = Math.max(peakMiB, Math.round(kib / 1024))
  }, 200)
  const beside = await measure(() => isDone, 600_000)
  clearInterval(sampling)
  const seconds = (performance.now() - startedMs) / 1_000
  process.stdout.write(`${LINKS} links in ${seconds.toFixed(1)} s, ${peakMiB} MiB at most\n`)
  process.stdout.write(`alone          ${alone}\n`)
  process.stdout.write(`beside import  ${beside}\n`)
} finally {
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

async function create(key: string): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'localhost', key, url: 'https://example.com/' }),
  })
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`)
}

/** Creates and visits in turn until `isDone`, and describes how long each took. */
async function measure(isDone: () => boolean, maxMs: number): Promise<string> {
  const creates: number[] = []
  const visits: number[] = []
  const startedMs = performance.now()
  while (!isDone() && performance.now() - startedMs < maxMs) {
    const beforeMs = performance.now()
    await create(`own-${beforeMs.toFixed(3).replace('.', '-')}`)
    const betweenMs = performance.now()
    await fetch(`${origin}/probe`, { redirect: 'manual', headers: { host: 'localhost' } })
    creates.push(betweenMs - beforeMs)
    visits.push(performance.now() - betweenMs)
    await sleep(10)
  }
  return `creates ${describe(creates)}; redirects ${describe(visits)}`
}

function describe(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}
