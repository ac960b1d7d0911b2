import { spawnSync } from 'node:child_process'
import { getProgram } from './programs.ts'

/**
 * Returns the value of a metric in an exposition, or undefined when it has none with these labels.
 *
 * @param labels enough of its labels to identify one value
 */
export function numberOf(
  exposition: string,
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  const found = exposition
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
  if (found.length > 1) throw new Error(`several numbers match:\n${found.join('\n')}`)
  return found[0] === undefined ? undefined : Number(found[0].split(' ').at(-1))
}

/** The names of all metrics in an exposition, as queries use them. */
export function metricNames(exposition: string): Set<string> {
  const names = new Set<string>()
  for (const [, name = '', type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes) names.add(name + suffix)
  }
  return names
}

export type Promtool = {
  /** @throws with the output of the tool when it fails */
  run(args: readonly string[], input?: string): void
}

/** Prometheus's own checks. */
export function openPromtool(): Promtool {
  const program = getProgram('promtool')
  return {
    run(args, input) {
      const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
      if (status !== 0) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`)
    },
  }
}
