import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../../identity/actor.ts'
import { USUAL_SCOPES } from '../../identity/permissions.ts'
import { setupAddress } from '../../identity/sign-in/setup.ts'
import { Failure, isUnavailable } from '../../platform/failure.ts'
import { BUILD_COMMAND, isDashboardBuilt } from '../../platform/http/dashboard/built-files.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'

const FIRST_WORKSPACE = 'default'
const firstStart = systemActor('first start')

/** Between two tries to write what the rest of a greeting needs. */
const LATER_INTERVAL_MS = 2_000

type Where = Pick<Config, 'baseUrl' | 'dataDir' | 'databaseUrl' | 'clicks' | 'settingsFile'> & {
  /** Where the built dashboard is; for tests. */
  readonly dashboardFolder?: string
}
type Greeted = Pick<Instance, 'store' | 'engine' | 'workspaces' | 'tokens' | 'setupLinks'>
/** Returns a part of the greeting, for which it may write to the database; empty where there is nothing to say. */
type Part = (config: Where, instance: Greeted) => Promise<string>

export type Greeting = {
  readonly text: string
  /** Parts that could not be written yet; see `greetLater`. */
  readonly rest: readonly Part[]
}

/**
 * Returns the text shown after a start: addresses and folders; at the first start a token and how to use it; and last
 * the address of the dashboard, which sets up the first person while there is none. A database that cannot be written
 * does not fail the start.
 */
export async function greet(config: Where, instance: Greeted): Promise<Greeting> {
  const { text, rest } = await sayAll([tokenText, dashboardText], config, instance)
  const isWaiting = rest.length > 0 && instance.store.isAvailable()
  const note = isWaiting
    ? '\nThe database cannot be written now. What is left to say about the first start follows once it can.\n'
    : ''
  return { text: greeting(config, instance) + text + note, rest }
}

/** Calls `say` with the rest of a greeting, as soon as the database can be written. */
export async function greetLater(
  { rest }: Greeting,
  config: Where,
  instance: Greeted,
  options: { say: (text: string) => void; signal: AbortSignal; intervalMs?: number },
): Promise<void> {
  const { say, signal, intervalMs = LATER_INTERVAL_MS } = options
  let left = rest
  while (left.length > 0) {
    // An aborted wait is no fault.
    await sleep(intervalMs, undefined, { ref: false, signal }).catch(() => {})
    if (signal.aborted) return
    const said = await sayAll(left, config, instance)
    left = said.rest
    if (said.text !== '') say(said.text)
  }
}

/** Stops at the first part for which the database is unavailable. */
async function sayAll(parts: readonly Part[], config: Where, instance: Greeted): Promise<Greeting> {
  let text = ''
  for (const [index, part] of parts.entries()) {
    // A database known to be down would be waited for.
    if (!instance.store.isAvailable()) return { text, rest: parts.slice(index) }
    try {
      text += await part(config, instance)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return { text, rest: parts.slice(index) }
    }
  }
  return { text, rest: [] }
}

/** Ends with the address to open, on a line of its own. */
async function dashboardText(
  { baseUrl, dashboardFolder }: Where,
  { setupLinks }: Greeted,
): Promise<string> {
  const isBuilt = isDashboardBuilt(dashboardFolder)
  if (!(await setupLinks.isRequired())) {
    return isBuilt ? `\nOpen the dashboard:\n\n  ${baseUrl}/app/\n` : ''
  }
  if (!isBuilt) {
    return `\nThe dashboard is not built: only the API and redirects work. Build it in the program's folder, then print a link that\nsets up the first person; the service need not be restarted:\n\n  ${BUILD_COMMAND}\n  ${terseCommand('setup')}\n`
  }
  const code = await setupLinks.createUnlessOpen('start')
  if (code === undefined) {
    // The link of an earlier start is still valid, and cannot be shown again: only its hash is stored.
    return `\nThere is no account yet. Print a link that sets up the first person:  ${terseCommand('setup')}\n`
  }
  return `\nOpen the dashboard and set up the first person, within 24 hours:\n\n  ${setupAddress(baseUrl, code)}\n`
}

/** Empty when the instance has a workspace already. */
async function tokenText({ baseUrl }: Where, instance: Greeted): Promise<string> {
  const token = await firstToken(instance)
  if (token === undefined) return ''
  const body = JSON.stringify({
    domain: new URL(baseUrl).hostname,
    key: 'hello',
    url: 'https://example.com/',
  })
  const lines = [
    '',
    `This is the first start. The token of the workspace "${FIRST_WORKSPACE}", shown only now:`,
    '',
    `  ${token}`,
    '',
    'Make your first link:',
    '',
    `  curl ${baseUrl}/api/v1/links -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '${body}'`,
    '',
    `Then follow it: ${baseUrl}/hello`,
  ]
  return `${lines.join('\n')}\n`
}

/** Creates the first workspace and its token; undefined when the instance has a workspace already. */
async function firstToken({ workspaces, tokens }: Greeted): Promise<string | undefined> {
  if ((await workspaces.list()).length > 0) return undefined
  try {
    const workspace = await workspaces.create(firstStart, FIRST_WORKSPACE)
    const { secret } = await tokens.create(firstStart(workspace.id), {
      name: 'first start',
      scopes: USUAL_SCOPES,
      expiresAt: null,
    })
    return secret
  } catch (error) {
    // Another process that started at the same time created the workspace, and shows its token.
    if (error instanceof Failure && error.code === 'validation_failed') return undefined
    throw error
  }
}

function greeting(config: Where, instance: Greeted): string {
  const { baseUrl, dataDir, settingsFile, clicks } = config
  const database =
    config.databaseUrl === undefined ? `${instance.engine}, in the data folder` : instance.engine
  const isUnavailable = !instance.store.isAvailable()
  const lines = [
    `Terse is running at ${baseUrl}`,
    '',
    `  API reference  ${baseUrl}/docs`,
    `  Data folder    ${dataDir}`,
    ...(settingsFile === undefined ? [] : [`  Settings       ${settingsFile}`]),
    `  Database       ${database}${isUnavailable ? ', unavailable: cached links redirect' : ''}`,
    ...(clicks === undefined
      ? []
      : [`  Clicks         ClickHouse, ${clicks.address.origins.join(' ')}`]),
    '',
    'People sign in at that address alone. To change it, set TERSE_BASE_URL in the environment or in',
    `${settingsFile ?? path.join(dataDir, 'terse.env')}, and start again.`,
  ]
  return `${lines.join('\n')}\n`
}
