import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Actor, Workspaces } from '../../identity/index.ts'
import { Progress } from '../../platform/cli/progress.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { CommandImports } from '../command-imports.ts'
import type { Import, NewImport } from '../import.ts'
import type { ImportSource } from '../import-source.ts'
import type { Importer } from '../importer.ts'
import { presentImport } from '../present.ts'
import type { SourceSettings } from '../source-kinds.ts'
import { progressText, summaryOf } from './progress.ts'

const EXIT_ROWS_REFUSED = 2

export type ImportTools = {
  readonly workspaces: Pick<Workspaces, 'getByNameOrId'>
  readonly imports: CommandImports
  openSource(settings: SourceSettings): Promise<ImportSource>
  openImporter(on: {
    readonly onProgress: (of: Import) => void
    readonly onRetry: (error: Error, delayMs: number) => void
  }): Importer
  /** As CSV. */
  reportOf(of: Import): AsyncIterable<string>
  /** Returns the domains with links of an import that do not work, because DNS does not prove them. */
  unprovedDomainsOf(of: Import): Promise<readonly string[]>
}

type Run = (importer: Importer, begun: Import, signal: AbortSignal) => Promise<Import>

/** Begins an import or goes on with it, and shows how it ended. */
export async function runToEnd(
  terminal: Terminal,
  tools: ImportTools,
  asked: {
    readonly actor: Actor
    readonly request: NewImport
    /** What makes a command the same: its source and options, without secrets. */
    readonly identity: unknown
    readonly options: { readonly report?: string; readonly json?: true }
    readonly run: Run
  },
): Promise<void> {
  const { actor, request, identity, options } = asked
  const begun = await tools.imports.begin(actor, request, identity, () =>
    terminal.err(
      'Another process may still run this import. Waiting until it has not for some seconds.',
    ),
  )
  const hasEnded = begun.status === 'succeeded'
  if (hasEnded) terminal.err('This import has ended before, and was stopped before it said so.')
  else if (begun.rows_done > 0) terminal.err(`Going on after row ${begun.rows_done}.`)
  const ended = hasEnded ? begun : await runInterruptibly(terminal, tools, begun, asked.run)
  if (options.report !== undefined) {
    await pipeline(Readable.from(tools.reportOf(ended)), createWriteStream(options.report))
  }
  const unproved = request.isDryRun ? [] : await tools.unprovedDomainsOf(ended)
  const presented = { ...presentImport(ended), unproved_domains: unproved }
  terminal.out(options.json ? plainJson(presented) : summaryOf(ended, unproved))
  await tools.imports.conclude(ended)
  if (ended.status === 'failed') throw new Error(`The import failed. ${ended.fault ?? ''}`)
  if (ended.counts.refused > 0) process.exitCode = EXIT_ROWS_REFUSED
}

/** Runs an import until it ends, or until the process is asked to end. */
async function runInterruptibly(
  terminal: Terminal,
  tools: ImportTools,
  begun: Import,
  run: Run,
): Promise<Import> {
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Error('Stopped. Run the same command again to go on.'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, stop)
  const progress = new Progress(terminal)
  const importer = tools.openImporter({
    onProgress: (of) => progress.show(progressText(of)),
    onRetry: (error, delayMs) => progress.retrying(error, delayMs),
  })
  try {
    return await run(importer, begun, stopping.signal)
  } finally {
    progress.end()
    for (const signal of signals) process.off(signal, stop)
    // So that the same command need not wait.
    await importer.release(begun).catch(() => {})
  }
}
