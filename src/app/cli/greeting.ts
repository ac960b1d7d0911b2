import { systemActor } from '../../identity/actor.ts'
import { setupAddress } from '../../identity/setup/setup-links.ts'
import { USUAL_SCOPES } from '../../identity/tokens/scope.ts'
import { Failure } from '../../platform/failure.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'

const FIRST_WORKSPACE = 'default'
const firstStart = systemActor('first start')

/**
 * Returns the text shown after a start: addresses and folders; at the first start a token and how to use it;
 * and while there is no person, how to set up the first.
 */
export async function greet(config: Config, instance: Instance): Promise<string> {
  if (!instance.store.isAvailable()) return greeting(config, instance, undefined)
  const token = await firstToken(instance)
  const setup = await setupText(config, instance)
  return greeting(config, instance, token) + setup
}

/** Empty once there is a person. */
async function setupText({ baseUrl }: Config, { setupLinks }: Instance): Promise<string> {
  if (!(await setupLinks.isRequired())) return ''
  const code = await setupLinks.createUnlessOpen('start')
  if (code === undefined) {
    // The link of an earlier start is still valid, and cannot be shown again: only its hash is stored.
    return `\nThere is no account yet. Print a link that sets up the first person:  ${terseCommand('setup')}\n`
  }
  return `\nOpen the dashboard and set up the first person, within 24 hours:\n\n  ${setupAddress(baseUrl, code)}\n`
}

/** Creates the first workspace and its token; undefined when the instance has a workspace already. */
async function firstToken({ workspaces, tokens }: Instance): Promise<string | undefined> {
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

function greeting(config: Config, instance: Instance, token: string | undefined): string {
  const { baseUrl, settingsFile } = config
  const database =
    config.databaseUrl === undefined ? `${instance.engine}, in the data folder` : instance.engine
  const isUnavailable = !instance.store.isAvailable()
  const lines = [
    `Terse is running at ${baseUrl}`,
    '',
    `  API reference  ${baseUrl}/docs`,
    `  Data folder    ${config.dataDir}`,
    ...(settingsFile === undefined ? [] : [`  Settings       ${settingsFile}`]),
    `  Database       ${database}${isUnavailable ? ', unavailable: cached links redirect' : ''}`,
  ]
  if (token !== undefined) {
    const body = JSON.stringify({
      domain: new URL(baseUrl).hostname,
      key: 'hello',
      url: 'https://example.com/',
    })
    lines.push(
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
    )
  }
  return `${lines.join('\n')}\n`
}
