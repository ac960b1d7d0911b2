import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * The number of a metric in an exposition; undefined where it has none with these labels.
 *
 * @param labels some of its labels, which no other number of the metric has
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

/** The names of all metrics in an exposition, as queries name them. */
export function metricNames(exposition: string): Set<string> {
  const names = new Set<string>()
  for (const [, name = '', type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes) names.add(name + suffix)
  }
  return names
}

export type Promtool = {
  /** @throws with what the tool has said, where it fails */
  run(args: readonly string[], input?: string): void
}

/** Prometheus's own checks: the machine's, or those in Debian's package; undefined where neither can be had. */
export function findPromtool(): Promtool | undefined {
  const program = onPath() ?? unpacked()
  if (program === undefined) return undefined
  return {
    run(args, input) {
      const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
      if (status !== 0) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`)
    },
  }
}

function onPath(): string | undefined {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'promtool'))
    .find((file) => existsSync(file))
}

/** The one file out of the package, without its service. It stays for the next run. */
function unpacked(): string | undefined {
  const kept = path.join(tmpdir(), 'terse-test-promtool')
  const program = path.join(kept, 'usr', 'bin', 'promtool')
  if (existsSync(program)) return program
  if (!existsSync('/usr/bin/apt-get')) return undefined
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-promtool-'))
  const quiet = { cwd: folder, stdio: 'ignore' } as const
  try {
    execFileSync('apt-get', ['update', '-qq'], quiet)
    execFileSync('apt-get', ['download', '-qq', 'prometheus'], quiet)
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'))
    if (archive === undefined) return undefined
    execFileSync(
      'sh',
      ['-c', `dpkg-deb --fsys-tarfile "$0" | tar -x ./usr/bin/promtool`, archive],
      quiet,
    )
    execFileSync('mv', ['-T', folder, kept], quiet)
    return program
  } catch {
    // No network, or another kind of system.
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}
