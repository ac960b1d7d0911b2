import { readFileSync } from 'node:fs'
import { linkPage } from '@terse/contract/links'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { type ApplyFailure, applyPlan } from './apply.ts'
import { withDrift, withFormerNames } from './drift.ts'
import { foldName, type LinkFile, parseLinkFile } from './link-file.ts'
import { type Change, type Plan, type PlanOptions, planChanges } from './plan.ts'
import {
  findLinks,
  mapSome,
  readLinks,
  readSurroundings,
  type WorkspaceState,
} from './workspace-state.ts'

/** Domains to delete whose links are counted: each is a request. */
const COUNTED_DOMAINS_MAX = 20

const NO_DOMAINS = 'Domains are not compared: the token lacks the scope domains:read.'

/** How often changes that another writer has overtaken are planned and applied again. */
const ROUNDS_MAX = 3

export type PlanContext = {
  readonly client: ApiClient
  /** The address of the service. */
  readonly url: string
  /** The host of the service, on which links need no domain of the workspace. */
  readonly ownHost: string
  readonly onProgress: (text: string) => void
}

export type Planned = { readonly plan: Plan; readonly state: WorkspaceState }

/** @throws {LinkFileError}, and an error for a file that cannot be read */
export function readLinkFile(name: string): LinkFile {
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${name} cannot be read: ${reason}.`, { cause: error })
  }
  return parseLinkFile(name, text)
}

/** Compares a file with the workspace as it is now. */
export async function makePlan(
  { client, ownHost, onProgress }: PlanContext,
  file: LinkFile,
  options: PlanOptions,
): Promise<Planned> {
  onProgress('Reading the workspace …')
  const surroundings = await readSurroundings(client)
  if (surroundings.domains === undefined && file.domains.length > 0) {
    throw new RemoteFault(
      'The file has domains, and the token lacks the scope domains:read.',
      'missing_scope',
    )
  }
  const read = await readLinks(client, { managed_by: file.set }, (count) =>
    onProgress(`Read ${count} links of the set ${file.set}`),
  )
  const wanted = new Set(file.links.map(({ name }) => name))
  const managed = await withFormerNames(client, read, wanted)
  const names = new Set(managed.map(({ name }) => name))
  const others = await findLinks(
    client,
    file.links.filter(({ name }) => !names.has(name)),
  )
  const state = { ...surroundings, links: [...managed, ...others] }
  const planned = planChanges(file, state, options)
  const plan = await withDrift(client, planned)
  onProgress('')
  const claims = claimedHosts(plan, file, state, ownHost)
  const notes = [
    ...(state.domains === undefined ? [NO_DOMAINS] : []),
    ...claims.map((host) => `Links add ${host} to the workspace, as a pending domain.`),
    ...(await strandedNotes(client, plan)),
  ]
  return { plan: { ...plan, notes: [...plan.notes, ...notes] }, state }
}

/** Returns the hosts of new links that neither the file nor the workspace has. */
function claimedHosts(
  { changes }: Plan,
  file: LinkFile,
  { domains }: WorkspaceState,
  ownHost: string,
): string[] {
  if (domains === undefined) return []
  const known = new Set([ownHost, ...[...domains, ...file.domains].map(({ name }) => name)])
  const hosts = changes.flatMap(({ kind, action, name }) =>
    kind === 'link' && action === 'create' ? [name.slice(0, name.indexOf('/'))] : [],
  )
  // A name without a dot is the service's own host.
  return [...new Set(hosts)].filter((host) => host.includes('.') && !known.has(host))
}

/** Returns a sentence for each domain to delete that has links which stay: those stop opening. */
async function strandedNotes(client: ApiClient, { changes }: Plan): Promise<string[]> {
  const deletions = changes.filter(({ action }) => action === 'delete')
  const domains = deletions.filter(({ kind }) => kind === 'domain').slice(0, COUNTED_DOMAINS_MAX)
  const notes = await mapSome(domains, async ({ name }) => {
    const { meta } = await client.get('/links', linkPage, {
      domain: name,
      archived: 'any',
      per_page: 1,
    })
    const isOn = ({ kind, name: each }: Change) => kind === 'link' && each.startsWith(`${name}/`)
    const rest = meta.total - deletions.filter(isOn).length
    return rest > 0 ? [`Without ${name}, links that stay on it stop opening: ${rest}.`] : []
  })
  return notes.flat()
}

export type ApplyOptions = PlanOptions & {
  readonly acceptsChanges: boolean
  readonly passwordOf: (variable: string) => string
}

export type Applied = {
  readonly failures: readonly { readonly change: Change; readonly text: string }[]
  /** How many deletions wait for the next apply, because something failed. */
  readonly heldBack: number
}

/**
 * Applies a plan. What another writer has overtaken, such as a second apply of the same file, is planned and applied
 * again, and nothing else.
 */
export async function applyUntilDone(
  context: PlanContext,
  file: LinkFile,
  { plan, state }: Planned,
  options: ApplyOptions,
): Promise<Applied> {
  const { client, onProgress } = context
  let current: Pick<Plan, 'changes' | 'unconfirmed'> = plan
  let ruleSets = state.ruleSets
  /** What failed, and would fail again. */
  const lasting: Applied['failures'][number][] = []
  let waiting = 0
  for (let round = 1; ; round += 1) {
    const ruleSetIds = new Map(ruleSets.map(({ name, id }) => [foldName(name), id]))
    const applying = { ...options, client, set: file.set, ruleSetIds, onProgress }
    const { failures, heldBack } = await applyPlan(applying, current)
    onProgress('')
    waiting = lasting.length === 0 ? heldBack : waiting
    const stale = failures.filter(({ isStale }) => isStale)
    if (stale.length === 0 || round === ROUNDS_MAX) {
      return { failures: [...lasting, ...failures], heldBack: waiting }
    }
    const next = await makePlan(context, file, options)
    const again = overtaken(stale, next.plan)
    lasting.push(...failures.filter(({ isStale }) => !isStale), ...again.failures)
    const planned = new Set(current.changes.filter(isDeletion).map(thingOf))
    const deletions = next.plan.changes.filter(
      (change) => lasting.length === 0 && isDeletion(change) && planned.has(thingOf(change)),
    )
    const changes = [...again.changes, ...deletions]
    if (changes.length === 0) {
      return { failures: lasting, heldBack: lasting.length === 0 ? 0 : waiting }
    }
    current = { changes, unconfirmed: next.plan.unconfirmed }
    ruleSets = next.state.ruleSets
  }
}

/** Divides what failed by whether the workspace has changed meanwhile: then it is to be applied as it is planned now. */
function overtaken(
  stale: readonly ApplyFailure[],
  plan: Plan,
): { changes: Change[]; failures: { change: Change; text: string }[] } {
  const changes: Change[] = []
  const failures: { change: Change; text: string }[] = []
  const nextOf = new Map(plan.changes.map((change) => [thingOf(change), change]))
  const problemOf = new Map(plan.problems.map((problem) => [thingOf(problem), problem]))
  for (const { change, text, isBlocked } of stale) {
    const next = nextOf.get(thingOf(change))
    const problem = problemOf.get(thingOf(change))
    if (problem !== undefined) failures.push({ change, text: problem.text })
    else if (next === undefined) continue
    else if (!isBlocked && isSameChange(next, change)) failures.push({ change, text })
    else changes.push(next)
  }
  return { changes, failures }
}

const isDeletion = ({ action }: Change) => action === 'delete'

/** Identifies a thing of the workspace, whatever happens to it. */
function thingOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind} ${name}`
}

function isSameChange(a: Change, b: Change): boolean {
  const shape = ({ action, id, fields, found }: Change) =>
    JSON.stringify([action, id, fields, found?.updated_at])
  return shape(a) === shape(b)
}

/** Whether two plans do the same, whatever else has changed. */
export function isSamePlan(a: Plan, b: Plan): boolean {
  const shape = ({ changes, problems }: Plan) =>
    JSON.stringify([
      changes.map(({ action, kind, name, id, fields }) => [action, kind, name, id, fields]),
      problems.map(({ kind, name, text }) => [kind, name, text]),
    ])
  return shape(a) === shape(b)
}
