import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { collect, example, ListedOption } from '../../platform/cli/options.ts'
import { formatTable, plainJson, plainText, type Terminal } from '../../platform/cli/terminal.ts'
import { Failure } from '../../platform/failure.ts'
import type { PlanContext } from '../code/make-plan.ts'
import type { Plan } from '../code/plan.ts'
import { RemoteFault } from '../login-file.ts'
import { openRemote } from '../open-remote.ts'

/** The exit code of a plan with changes. */
const EXIT_CHANGES = 2
/** Waits out limits of requests, which are renewed every minute. */
const PATIENT = { attempts: 100, pauseMax: 90 }
const PENDING_SHOWN_MAX = 20

type PlanFlags = {
  readonly adopt?: true
  readonly setPasswords?: true
  readonly json?: true
}
type ApplyFlags = PlanFlags & { readonly yes?: true; readonly acceptChanges?: true }

const FILE_ARGUMENT = 'a file of links as code, in YAML or JSON'

export function planCommand(terminal: Terminal): Command {
  const command = new Command('plan')
    .description('Show what "apply" would change, so that the workspace is as a file says.')
    .argument('[file]', FILE_ARGUMENT)
  return addPlanOptions(command)
    .option('--schema', 'print the JSON Schema of files instead, for editors')
    .addHelpText(
      'after',
      '\nEnds with 0 without changes, with 2 with changes, and with 1 on errors.',
    )
    .addHelpText('after', example('plan links.yaml', 'plan links.yaml --json'))
    .action(async (file: string | undefined, flags: PlanFlags & { readonly schema?: true }) => {
      if (flags.schema) {
        const { linksSchema } = await import('../code/file-schema.ts')
        terminal.out(plainJson(linksSchema()))
        return
      }
      if (file === undefined) throw Failure.invalidCommand('name a file, such as links.yaml')
      await withStatus(terminal, () => plan(terminal, file, flags))
    })
}

export function applyCommand(terminal: Terminal): Command {
  const command = new Command('apply')
    .description('Change a workspace so that it is as a file says. Shows the plan, and asks.')
    .argument('<file>', FILE_ARGUMENT)
    .option('--yes', 'apply without a question; needed outside a terminal')
  return addPlanOptions(command)
    .option('--accept-changes', 'also if it changes where examples of links lead')
    .addHelpText('after', example('apply links.yaml', 'apply links.yaml --yes'))
    .action((file: string, flags: ApplyFlags) =>
      withStatus(terminal, () => apply(terminal, file, flags)),
    )
}

async function plan(terminal: Terminal, file: string, flags: PlanFlags): Promise<void> {
  const { readLinkFile, makePlan } = await import('../code/make-plan.ts')
  const { planAsJson } = await import('../code/print-plan.ts')
  const links = readLinkFile(file)
  const { plan } = await makePlan(await openContext(terminal), links, optionsOf(flags))
  if (flags.json) terminal.out(plainJson(planAsJson(plan)))
  else terminal.out(await textOf(terminal, plan, file))
  if (plan.changes.length > 0) process.exitCode = EXIT_CHANGES
  refuseProblems(plan)
}

/** Leaves no progress line before what is written next, also where the work fails. */
async function withStatus(terminal: Terminal, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } finally {
    terminal.status('')
  }
}

function addPlanOptions(command: Command): Command {
  return command
    .option('--adopt', 'take what the file names and no set has into the set')
    .option('--set-passwords', 'write all passwords: the service does not show if one differs')
    .option('--json', 'print JSON')
}

function optionsOf({
  adopt = false,
  setPasswords = false,
}: Partial<Record<keyof PlanFlags, true | false>>) {
  return { adopt, setPasswords }
}

async function openContext(terminal: Terminal): Promise<PlanContext> {
  const { client, url, ownHost } = await openRemote(PATIENT)
  return { client, url, ownHost, onProgress: (text) => terminal.status(plainText(text)) }
}

async function textOf({ isInteractive }: Terminal, plan: Plan, file: string): Promise<string> {
  const { formatPlan } = await import('../code/print-plan.ts')
  const hasColors = isInteractive && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return formatPlan(plan, { file, hasColors })
}

/** @throws where a plan cannot be applied */
function refuseProblems({ problems }: Plan): void {
  if (problems.length === 0) return
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  throw new Error(
    `This plan cannot be applied: it has ${count}, marked with "!". Nothing was sent.`,
  )
}

async function apply(terminal: Terminal, file: string, flags: ApplyFlags): Promise<void> {
  const { readLinkFile, makePlan, applyUntilDone, isSamePlan } = await import(
    '../code/make-plan.ts'
  )
  const links = readLinkFile(file)
  const context = await openContext(terminal)
  const options = optionsOf(flags)
  let planned = await makePlan(context, links, options)
  // Standard output is for the JSON alone.
  const show = flags.json ? terminal.err : terminal.out
  show(await textOf(terminal, planned.plan, file))
  refuseProblems(planned.plan)
  const passwordOf = readPasswords(planned.plan)
  if (planned.plan.changes.length > 0 && !flags.yes) {
    await confirm(terminal, context)
    // A person may have read for long.
    const now = await makePlan(context, links, options)
    if (!isSamePlan(planned.plan, now.plan)) {
      throw new Error('The workspace has changed since this plan. Nothing was sent: run it again.')
    }
    planned = now
  }
  const acceptsChanges = flags.acceptChanges ?? false
  const applied = await applyUntilDone(context, links, planned, {
    ...options,
    acceptsChanges,
    passwordOf,
  })
  const hosts = new Set(links.links.map(({ domain }) => domain))
  for (const { name } of links.domains) hosts.add(name)
  const pending = planned.plan.changes.length > 0 ? await findPending(context, hosts) : []
  if (flags.json) {
    const { planAsJson } = await import('../code/print-plan.ts')
    const failures = applied.failures.map(({ change: { kind, name }, text }) => ({
      kind,
      name,
      text,
    }))
    terminal.out(
      plainJson({ ...planAsJson(planned.plan), failures, held_back: applied.heldBack, pending }),
    )
  } else reportPending(terminal, pending)
  for (const { change, text } of applied.failures)
    terminal.err(plainText(`${change.name}: ${text}`))
  if (applied.failures.length > 0) {
    const held = applied.heldBack > 0 ? ` Deletions wait until they work: ${applied.heldBack}.` : ''
    throw new Error(`Changes that failed: ${applied.failures.length}.${held}`)
  }
  if (planned.plan.changes.length > 0) terminal.err(`The set ${links.set} is applied.`)
}

async function confirm(terminal: Terminal, { url }: PlanContext): Promise<void> {
  const answer = await terminal.confirm(`Apply these changes to ${plainText(url)}?`)
  if (answer === undefined)
    throw Failure.invalidCommand('--yes is needed where no terminal can ask')
  if (!answer) throw new Error('Nothing was changed.')
}

/**
 * Returns the passwords that a plan sets, by their variables.
 *
 * @throws where a variable is not set
 */
function readPasswords({ changes }: Plan): (variable: string) => string {
  const wanted = changes.flatMap(({ wanted, fields }) =>
    wanted !== undefined &&
    'passwordFrom' in wanted &&
    wanted.passwordFrom !== null &&
    fields.some(({ field }) => field === 'password')
      ? [wanted.passwordFrom]
      : [],
  )
  const missing = [...new Set(wanted)].filter((variable) => !process.env[variable])
  if (missing.length > 0) {
    const text = `Passwords are missing. Set ${missing.join(', ')}. Nothing was sent.`
    throw new Error(text)
  }
  return (variable) => process.env[variable] ?? ''
}

type PendingDomain = {
  readonly domain: string
  readonly records: readonly {
    readonly type: string
    readonly full_name: string
    readonly value: string
  }[]
}

/** Returns the domains that do not answer yet, with the records that they need; none where the token may not read them. */
async function findPending(
  { client }: PlanContext,
  hosts: ReadonlySet<string>,
): Promise<readonly PendingDomain[]> {
  const { readDomainStates } = await import('../code/workspace-state.ts')
  const { dnsReportSchema } = await import('@terse/contract/dns-report')
  const pending: PendingDomain[] = []
  try {
    for (const { id, domain, status } of await readDomainStates(client)) {
      if (status === 'active' || !hosts.has(domain)) continue
      if (pending.length >= PENDING_SHOWN_MAX) break
      const { records } = await client.get(`/domains/${id}/dns`, dnsReportSchema)
      pending.push({ domain, records })
    }
  } catch (error) {
    // The set is applied, which a fault of this would deny.
    if (!(error instanceof RemoteFault)) throw error
  }
  return pending
}

function reportPending(terminal: Terminal, pending: readonly PendingDomain[]): void {
  for (const { domain, records } of pending) {
    const table = formatTable(
      ['TYPE', 'NAME', 'VALUE'],
      records.map(({ type, full_name, value }) => [type, full_name, value]),
    )
    const head = `The domain ${plainText(domain)} is pending: its links open once DNS has these records.`
    terminal.err(`${head}\n${table}`)
  }
}

type PullFlags = {
  readonly set: string
  readonly adopt?: true
  readonly domain?: readonly string[]
  readonly output?: string
  readonly force?: true
  readonly json?: true
}

export function pullCommand(terminal: Terminal): Command {
  return new Command('pull')
    .description('Write the file of a set from the workspace, for "plan" and "apply".')
    .requiredOption('--set <name>', 'the name of the set, such as flyers')
    .option('--adopt', 'also what belongs to no set yet')
    .addOption(
      new ListedOption(
        '--domain <host>',
        'only this domain; several times for several',
        'domains',
      ).argParser(collect),
    )
    .option('-o, --output <file>', 'write to this file, as JSON if its name ends in .json')
    .option('--force', 'overwrite a file that is there')
    .option('--json', 'print JSON')
    .addHelpText('after', example('pull --set flyers --adopt -o links.yaml'))
    .action((flags: PullFlags) => withStatus(terminal, () => pull(terminal, flags)))
}

async function pull(terminal: Terminal, flags: PullFlags): Promise<void> {
  const { set, adopt = false, output, force = false } = flags
  const { parseHost } = await import('../../hosts/index.ts')
  const domains = (flags.domain ?? []).map((text) => {
    const parsed = parseHost(text)
    return 'value' in parsed ? parsed.value : text.toLowerCase()
  })
  const { setName } = await import('@terse/contract/managed')
  if (!setName.safeParse(set).success) {
    const text = `"${set}" is no name of a set: 1 to 63 lower-case letters, digits and hyphens.`
    throw new RemoteFault(text, 'validation_failed')
  }
  const refuseExisting = (file: string) => {
    if (!force && existsSync(file)) {
      throw new RemoteFault(`${file} is there already. With --force, it is overwritten.`)
    }
  }
  if (output !== undefined) refuseExisting(output)
  const { describeWorkspace, formatFile, selectThings } = await import('../code/pull.ts')
  const { readLinks, readSurroundings } = await import('../code/workspace-state.ts')
  const { client, onProgress } = await openContext(terminal)
  const surroundings = await readSurroundings(client)
  if (surroundings.domains === undefined) {
    terminal.err('Domains are left out: the token lacks the scope domains:read.')
  }
  const filter = adopt ? (domains.length > 0 ? { domain: domains } : {}) : { managed_by: set }
  const links = await readLinks(client, filter, (count) => onProgress(`Read ${count} links`))
  onProgress('')
  const state = { ...surroundings, links }
  const names = new Map(state.ruleSets.map(({ id, name }) => [id, name]))
  const chosen = selectThings(state, { set, adopt, domains })
  const file = describeWorkspace(set, chosen, names)
  if (output === undefined) {
    terminal.out(flags.json ? plainJson(file) : formatFile(file, '').trimEnd())
    return
  }
  writeWhole(output, formatFile(file, output), () => refuseExisting(output))
  if (flags.json) terminal.out(plainJson({ set, file: output, links: chosen.links.length }))
  else terminal.err(`${output} has ${chosen.links.length} links.`)
}

/** Writes a file as a whole or not at all, such as on a full disk. */
function writeWhole(file: string, text: string, refuseExisting: () => void): void {
  const partial = `${file}.${process.pid}.part`
  try {
    writeFileSync(partial, text, { flag: 'wx' })
    refuseExisting()
    renameSync(partial, file)
  } finally {
    rmSync(partial, { force: true })
  }
}
