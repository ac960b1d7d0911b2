import { systemActor } from '../../identity/actor.ts'
import { USUAL_SCOPES } from '../../identity/tokens/scope.ts'
import { Failure } from '../../platform/failure.ts'
import type { Config } from '../config/read-config.ts'
import type { Instance } from '../instance/instance.ts'

const FIRST_WORKSPACE = 'default'
const firstStart = systemActor('first start')

/** Returns the text shown after a start: addresses and folders, and at the first start a token and how to use it. */
export async function greet(config: Config, instance: Instance): Promise<string> {
  const token = instance.store.isAvailable() ? await firstToken(instance) : undefined
  return greeting(config, instance, token)
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
