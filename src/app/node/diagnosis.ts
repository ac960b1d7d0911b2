import type { Finding } from '../../operations/doctor/host-findings.ts'
import type { Diagnosis } from '../../operations/routes.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ExaminedInstance, examinedOf } from '../composition/doctor.ts'
import type { Config } from '../config/config.ts'
import { runTask } from '../workers/run-task.ts'

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
async function run(examined: ExaminedInstance): Promise<readonly Finding[]> {
  const stop = AbortSignal.timeout(PATIENCE_MS)
  try {
    return await runTask('doctor', examined, { stop, isBackground: true })
  } catch (error) {
    throw Failure.unavailable(error, {
      kind: 'worker',
      message: 'The checks did not end in time. Run them on the machine: terse doctor',
    })
  }
}
