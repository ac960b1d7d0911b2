import { fork } from 'node:child_process'
import type { Finding } from '../../operations/doctor/host-findings.ts'
import type { Diagnosis } from '../../operations/routes.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ExaminedInstance, examinedOf } from '../composition/doctor.ts'
import type { Config } from '../config/config.ts'

const PROGRAM = new URL('../workers/doctor-process.ts', import.meta.url)
const PATIENCE_MS = 10_000
const KEEP_MS = 10_000

/**
 * Returns how to check the instance of this node, in a process of its own. Callers share a check that runs or
 * has just ended.
 */
export function openDiagnosis(config: Config, clock: Clock): () => Promise<Diagnosis> {
  const examined = examinedOf(config)
  let shared: Promise<Diagnosis> | undefined
  return () => {
    if (shared !== undefined) return shared
    const check = run(examined).then((findings) => ({ checkedAt: clock.nowMicros(), findings }))
    shared = check
    const forget = () => {
      shared = undefined
    }
    check.then(() => setTimeout(forget, KEEP_MS).unref(), forget)
    return check
  }
}

/** @throws {Failure} `unavailable` when the process does not answer in time, or cannot run */
function run(examined: ExaminedInstance): Promise<readonly Finding[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Finding[]>()
  const fail = (reason: string) =>
    reject(
      Failure.unavailable(new Error(reason), {
        kind: 'worker',
        message: 'The checks did not end in time. Run them on the machine: terse doctor',
      }),
    )
  const child = fork(PROGRAM, [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    fail('the doctor process took too long')
  }, PATIENCE_MS)
  timer.unref()
  child.once('message', (findings) => resolve(findings as readonly Finding[]))
  child.once('error', ({ message }) => fail(message))
  child.once('exit', (code, signal) => {
    clearTimeout(timer)
    fail(`the doctor process ended with ${signal ?? code}`)
  })
  child.send(examined, (error) => {
    if (error !== null) fail(error.message)
  })
  return promise
}
