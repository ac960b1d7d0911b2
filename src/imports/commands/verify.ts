import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { csvLine } from '@terse/contract/csv'
import { Command, InvalidArgumentError } from 'commander'
import type { Workspaces } from '../../identity/index.ts'
import { example, type RunWith } from '../../platform/cli/options.ts'
import { Progress } from '../../platform/cli/progress.ts'
import { plainJson, type Terminal } from '../../platform/cli/terminal.ts'
import type { LinkAnswer } from '../verify/answers.ts'
import type { LinkVerification, VerifiedPair } from '../verify/link-verification.ts'

const EXIT_DIFFERENT = 2
const REQUESTS_PER_SECOND = 5
const REQUESTS_PER_SECOND_MAX = 100
const HEADER = [
  ...['old_link', 'link', 'verdict', 'reason', 'old_status', 'old_location'],
  ...['new_status', 'new_location'],
]

export type VerifyServices = {
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly verification: LinkVerification
}

type Options = {
  readonly workspace?: string
  readonly oldUrl?: URL
  readonly http?: true
  readonly rate: number
  readonly resolve?: URL
  readonly private?: true
  readonly report?: string
  readonly json?: true
}

export function verifyCommand(terminal: Terminal, withServices: RunWith<VerifyServices>): Command {
  return new Command('verify')
    .description('Compare where imported links lead, at the old service and here.')
    .argument('[import]', 'the ID of the import; without it, the newest that has succeeded')
    .option('--workspace <name>', 'the workspace of the import')
    .option('--old-url <url>', 'the old service, for links on its own domain', parseUrl)
    .option('--http', 'ask the old service’s other domains by http instead of https')
    .option(
      '--rate <number>',
      `links to ask for in a second, at most ${REQUESTS_PER_SECOND_MAX}`,
      parseRate,
      REQUESTS_PER_SECOND,
    )
    .option('--resolve <host:port>', 'ask Terse at this address, whatever DNS says', parsePlace)
    .option('--private', 'allow an old service in a private network')
    .option('--report <file>', 'write what differs to this CSV file instead of here')
    .option('--json', 'print JSON: what differs and the counts; with --report the counts alone')
    .addHelpText('after', example('import verify --workspace acme --report differences.csv'))
    .action(async (importId: string | undefined, _: unknown, command: Command) => {
      // Options that `import` has too are given to it, wherever they stand.
      const options = command.optsWithGlobals<Options>()
      const { workspace } = options
      if (workspace === undefined) command.error('error: --workspace is required')
      await withServices((services) => run(terminal, services, { ...options, workspace, importId }))
    })
}

/** Sets the exit status as soon as a link differs or gives no answer: the reader may close its pipe after that. */
async function run(
  terminal: Terminal,
  { workspaces, verification }: VerifyServices,
  options: Options & { readonly workspace: string; readonly importId: string | undefined },
): Promise<void> {
  const { id: workspaceId } = await workspaces.get(options.workspace)
  const counts = { same: 0, different: 0, unknown: 0 }
  const verifying = verification.run(workspaceId, {
    importId: options.importId,
    ownUrl: options.oldUrl,
    scheme: options.http ? 'http' : 'https',
    requestsPerSecond: options.rate,
    allowsPrivate: options.private ?? false,
    terseAt: options.resolve,
    signal: new AbortController().signal,
  })
  const { json = false } = options
  const progress = new Progress(terminal)
  const isShown = options.report === undefined
  const report = await openReport(terminal, options.report)
  const isList = json && isShown
  await write(report, isList ? '{"differences":[' : csvLine(HEADER))
  for await (const pair of verifying) {
    counts[pair.verdict] += 1
    if (pair.verdict !== 'same') {
      process.exitCode = EXIT_DIFFERENT
      const separator = counts.different + counts.unknown === 1 ? '' : ','
      await write(report, isList ? `${separator}\n${jsonOf(pair)}` : csvLine(cellsOf(pair)))
    }
    progress.show(summaryOf(counts))
  }
  if (isList) await write(report, `\n],${plainJson(counts).replace(/^\{\s*/, '')}\n`)
  if (!isShown) {
    report.end()
    await finished(report)
  }
  progress.end()
  if (json && !isShown) terminal.out(plainJson(counts))
  else if (!json) terminal.err(summaryOf(counts))
}

async function openReport(terminal: Terminal, file: string | undefined): Promise<Writable> {
  if (file === undefined) return terminal.output
  // The call that writes reports the error.
  const report = createWriteStream(file).on('error', () => {})
  await once(report, 'open')
  return report
}

function write(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

function cellsOf({ oldLink, link, verdict, reason, before, now }: VerifiedPair): string[] {
  return [oldLink.href, link.href, verdict, reason, ...shown(before), ...shown(now)]
}

function jsonOf({ oldLink, link, verdict, reason, before, now }: VerifiedPair): string {
  const shown = (answer: LinkAnswer) => ({
    status: answer.status ?? null,
    location: 'location' in answer ? answer.location : null,
  })
  const links = { old_link: oldLink.href, link: link.href, verdict, reason }
  return plainJson({ ...links, old: shown(before), new: shown(now) })
}

function shown(answer: LinkAnswer): [string, string] {
  const location = 'location' in answer ? answer.location : null
  return [String(answer.status ?? ''), location ?? '']
}

function summaryOf(counts: Readonly<Record<VerifiedPair['verdict'], number>>): string {
  const { same, different, unknown } = counts
  return `${same} links lead to the same place, ${different} differ, ${unknown} could not be compared.`
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new InvalidArgumentError('It must be an http or https URL.')
}

function parseRate(text: string): number {
  const rate = Number(text)
  if (rate > 0 && rate <= REQUESTS_PER_SECOND_MAX) return rate
  throw new InvalidArgumentError(`It must be a number up to ${REQUESTS_PER_SECOND_MAX}.`)
}

/** Port 443 is asked by HTTPS, all others by HTTP, unless a URL says otherwise. */
function parsePlace(text: string): URL {
  if (/^https?:\/\//.test(text)) return parseUrl(text)
  const url = URL.parse(`${text.endsWith(':443') ? 'https' : 'http'}://${text}`)
  if (url !== null && url.pathname === '/' && url.search === '') return url
  throw new InvalidArgumentError('It must be a host and a port, such as 127.0.0.1:8080.')
}
