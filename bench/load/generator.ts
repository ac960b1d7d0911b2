import { execFileSync } from 'node:child_process'
import { findTool } from '../support/tools.ts'
import { runAutocannon } from './autocannon.ts'
import type { LoadResult, LoadSpec } from './load-spec.ts'
import { runWrk } from './wrk.ts'

/** The load generator for saturation on this machine. */
export type Generator = {
  readonly name: string
  run(spec: LoadSpec): Promise<LoadResult>
}

export function findGenerator(): Generator {
  const wrk = findTool('wrk')
  if (wrk === undefined) {
    return { name: 'autocannon, because wrk is not installed', run: runAutocannon }
  }
  // It prints its version and then complains about missing arguments.
  const version = execFileSync('/bin/sh', ['-c', '"$0" -v; true', wrk], { encoding: 'utf8' })
  return { name: version.split(' Copyright')[0] ?? 'wrk', run: (spec) => runWrk(wrk, spec) }
}
