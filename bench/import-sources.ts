import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { SourceSettings } from '../src/imports/source-kinds.ts'
import { openSource, type SourceAccess } from '../src/imports/sources/open-source.ts'

/**
 * Reads large files of sources, and prints the time of CPU and the memory that it takes: as much for the large as
 * for the small file. `node bench/import-sources.ts [--mib 1024]`
 */
const { values } = parseArgs({ options: { mib: { type: 'string', default: '256' } } })
const SIZES_MIB = [16, Number(values.mib)]
const SAMPLE_RECORDS = 10_000
const BATCH_ROWS = 1_000
/** Files need no access to a network. */
const NO_ACCESS = {} as SourceAccess

type Kind = {
  readonly kind: 'sink' | 'yourls-sql' | 'csv'
  readonly head: string
  /** Rows from a number on, which begin with what separates them from those before. */
  rows(from: number): string
  readonly tail: string
}

const numbers = (from: number) => Array.from({ length: BATCH_ROWS }, (_, at) => from + at)
const urlOf = (number: number) => `https://example.com/${number}?q=${'x'.repeat(60)}`

const KINDS: readonly Kind[] = [
  {
    kind: 'sink',
    head: '{"version":"1.0","links":[{"slug":"first","url":"https://example.com/"}',
    rows: (from) =>
      numbers(from)
        .map(
          (n) =>
            `,\n${JSON.stringify({ slug: `k${n}`, url: urlOf(n), tags: ['a'], createdAt: 1_700_000_000 })}`,
        )
        .join(''),
    tail: ']}',
  },
  {
    kind: 'yourls-sql',
    head: 'CREATE TABLE `yourls_url` (`keyword` varchar(100), `url` text, `title` text, `timestamp` timestamp, `ip` varchar(41), `clicks` int);\n',
    rows: (from) =>
      `INSERT INTO \`yourls_url\` VALUES ${numbers(from)
        .map((n) => `('k${n}','${urlOf(n)}','it\\'s ${n}','2025-01-01 00:00:00','192.0.2.1',${n})`)
        .join(',')};\n`,
    tail: '',
  },
  {
    kind: 'csv',
    head: 'key,url,created,tags\n',
    rows: (from) =>
      numbers(from)
        .map((n) => `k${n},"${urlOf(n)}",2025-01-01 00:00:00,"a,b"\n`)
        .join(''),
    tail: '',
  },
]

function writeSource(file: string, { head, rows, tail }: Kind, mib: number): void {
  const target = openSync(file, 'w')
  let bytes = writeSync(target, head)
  for (let from = 0; bytes < mib * 1024 * 1024; from += BATCH_ROWS)
    bytes += writeSync(target, rows(from))
  writeSync(target, tail)
  closeSync(target)
}

async function measure(settings: SourceSettings & { readonly file: string }): Promise<void> {
  const source = await openSource(settings, NO_ACCESS)
  const started = process.cpuUsage()
  let [records, peakBytes] = [0, 0]
  for await (const _ of source.read({ resume: undefined, signal: new AbortController().signal })) {
    records += 1
    if (records % SAMPLE_RECORDS === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
  }
  const { user, system } = process.cpuUsage(started)
  const seconds = (user + system) / 1_000_000
  const mib = statSync(settings.file).size / 1024 ** 2
  process.stdout.write(
    `${settings.kind.padEnd(10)} ${mib.toFixed(0).padStart(5)} MiB ${String(records).padStart(8)} records ${seconds.toFixed(1).padStart(6)} s of CPU ${(peakBytes / 1024 ** 2).toFixed(0).padStart(5)} MiB resident\n`,
  )
}

const folder = mkdtempSync(path.join(tmpdir(), 'terse-bench-'))
try {
  for (const kind of KINDS)
    for (const mib of SIZES_MIB) {
      const file = path.join(folder, kind.kind)
      writeSource(file, kind, mib)
      const shared = { file, timeZone: 'UTC' }
      await measure(
        kind.kind === 'csv'
          ? { kind: 'csv', map: {}, ignored: [], ...shared }
          : { kind: kind.kind, ...shared },
      )
    }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
