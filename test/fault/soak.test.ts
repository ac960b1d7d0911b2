import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { workerPids } from '../support/worker-pids.ts'
import { sendVisitors, VISITORS } from './visitors.ts'

/** Total time, divided among the engines. */
const SECONDS = formSetting('SOAK_SECONDS') / ENGINES.length
/** Time at full load, to measure what half of it is. */
const SATURATED_SECONDS = 1
const SAMPLE_INTERVAL_MS = SECONDS * 10
const API_PAUSE_MS = 20
/** The most connections of one process to PostgreSQL. */
const CONNECTIONS_MAX = 14
const TIMEOUT_MS = SECONDS * 1_000 + 120_000
/** In shorter runs the compiler and the caches are still filling up, and connections are still being opened. */
const LONG_SECONDS_MIN = 300
/** Growth of files, and of memory in the long form, from the second quarter to the last one. */
const FILES_GROWTH_MAX = SECONDS < LONG_SECONDS_MIN ? 4 + VISITORS + 2 * CONNECTIONS_MAX : 4
const MEMORY_GROWTH_MAX = 1.15

type Sample = { readonly mib: number; readonly files: number }

function sample(pids: readonly number[]): Sample {
  const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0)
  return {
    mib: sum((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
    }),
    files: sum((pid) => readdirSync(`/proc/${pid}/fd`).length),
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

describe('two processes under half of their maximum load', {
  skip: !existsSync('/proc/self/fd'),
}, () => {
  for (const engine of ENGINES) {
    test(`fail no request for ${SECONDS} s beside API writes, and do not grow, on ${engine.title}`, {
      timeout: TIMEOUT_MS,
    }, async (t) => {
      const place = await engine.createMigratedPlace()
      const token = await makeToken(place.env)
      const service = await startProcess(place, { TERSE_PROCESSES: '2' })
      t.after(async () => {
        await service.stop()
        await place.remove()
      })
      await eventually(async () => assert.equal(workerPids(service).length, 2))
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      const input = { domain: 'localhost', url: 'https://example.com/' }
      const soaked = expectStatus(await api.post('/links', { ...input, key: 'soaked' }), 201).body

      const saturating = sendVisitors(service.port, '/soaked')
      await sleep(SATURATED_SECONDS * 1_000)
      await saturating.stop()
      const perSecond = saturating.tally.answered / SATURATED_SECONDS
      // Each visitor pauses for as long as an answer takes under full load, which halves its rate.
      const pauseMsMax = (2 * 1_000 * VISITORS) / perSecond
      const visitors = sendVisitors(service.port, '/soaked', { pauseMsMax, persistent: true })

      let writing = true
      let written = 0
      t.after(async () => {
        // The persistent connections would keep the process of a failed test from ending.
        writing = false
        await visitors.stop()
      })
      const writes = (async () => {
        for (let tag = 0; writing; tag += 1) {
          const { id } = expectStatus(await api.post('/links', input), 201).body
          expectStatus(await api.patch(`/links/${id}`, { tags: [String(tag)] }), 200)
          expectStatus(await api.delete(`/links/${id}`), 200)
          written += 3
          await sleep(API_PAUSE_MS)
        }
      })()
      // It is awaited at the end; an earlier rejection must not count as unhandled.
      writes.catch(() => undefined)

      const samples: Sample[] = []
      const pids = workerPids(service)
      const endsAtMs = performance.now() + SECONDS * 1_000
      while (performance.now() < endsAtMs) {
        await sleep(SAMPLE_INTERVAL_MS)
        samples.push(sample(pids))
      }
      writing = false
      await writes
      await visitors.stop()

      const quarter = Math.floor(samples.length / 4)
      const early = samples.slice(quarter, 2 * quarter)
      const late = samples.slice(-quarter)
      const [earlyMib, lateMib] = [early, late].map((part) => median(part.map(({ mib }) => mib)))
      const [earlyFiles, lateFiles] = [early, late].map((part) =>
        median(part.map(({ files }) => files)),
      )
      assert.ok(earlyMib && lateMib && earlyFiles && lateFiles)
      const { answered, failed, longestMs } = visitors.tally
      t.diagnostic(
        `${Math.round(perSecond)}/s at most; ${answered} answered, ${failed} failed, ${written} writes, longest ${Math.round(longestMs)} ms; ` +
          `${Math.round(earlyMib)} then ${Math.round(lateMib)} MiB, ${earlyFiles} then ${lateFiles} files`,
      )
      assert.equal(failed, 0)
      assert.equal(saturating.tally.failed, 0)
      assert.ok(lateFiles <= earlyFiles + FILES_GROWTH_MAX)
      if (SECONDS >= LONG_SECONDS_MIN) assert.ok(lateMib <= earlyMib * MEMORY_GROWTH_MAX)
      const total = answered + saturating.tally.answered
      await eventually(async () => {
        const { body } = expectStatus(await api.get(`/links/${soaked.id}`), 200)
        assert.equal(body.clicks, total)
      })
    })
  }
})
