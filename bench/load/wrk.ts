import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { LOAD_CORE, onCores } from '../support/cores.ts'
import { createDataFolder } from '../support/data-folder.ts'
import type { LoadResult, LoadSpec } from './load-spec.ts'
import { RESULT_MARK, wrkScript } from './wrk-script.ts'

/** How long wrk waits for the last answers before it gives up. */
const LAST_ANSWERS_SECONDS = 30

type Summary = {
  readonly sent: number
  readonly answered: number
  readonly failed: number
  readonly notFound: number
  readonly p50Micros: number
  readonly p99Micros: number
}

/** Runs wrk with one thread, and checks that every request got the expected answer. */
export async function runWrk(program: string, spec: LoadSpec): Promise<LoadResult> {
  const folder = createDataFolder()
  try {
    const script = path.join(folder, 'requests.lua')
    writeFileSync(script, wrkScript(spec))
    const deadline = spec.seconds + LAST_ANSWERS_SECONDS
    const options = ['-t1', `-c${spec.connections}`, `-d${deadline}s`, '-s', script]
    const [file, args] = onCores([LOAD_CORE], program, [
      ...options,
      `http://127.0.0.1:${spec.port}/`,
    ])
    const { stdout } = await promisify(execFile)(file, args)
    const summary = readSummary(stdout)
    const wrong = spec.status === 404 ? summary.answered - summary.notFound : summary.notFound
    if (summary.sent !== summary.answered || summary.failed > 0 || wrong > 0) {
      throw new Error(`not every request got a ${spec.status}:\n${stdout}`)
    }
    return {
      answered: summary.answered,
      perSecond: summary.answered / spec.seconds,
      p50Ms: summary.p50Micros / 1_000,
      p99Ms: summary.p99Micros / 1_000,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readSummary(stdout: string): Summary {
  const at = stdout.lastIndexOf(RESULT_MARK)
  if (at === -1) throw new Error(`wrk ended without a result:\n${stdout}`)
  return JSON.parse(stdout.slice(at + RESULT_MARK.length))
}
