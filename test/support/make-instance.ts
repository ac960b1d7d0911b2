import { pino } from 'pino'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { SCOPES } from '../../src/identity/permissions.ts'

type Env = Readonly<Record<string, string>>

/** Creates the instance that the settings describe, as the first start of the service does. */
export async function makeInstance(
  env: Env,
  prepare: (instance: Instance) => Promise<void> = async () => {},
): Promise<void> {
  const instance = await openInstance(readConfig(env), pino({ level: 'silent' }))
  try {
    await prepare(instance)
  } finally {
    await instance.close()
  }
}

/**
 * Returns a new token of a workspace. Creates the workspace and the instance when they do not
 * exist.
 */
export async function makeToken(env: Env, workspaceName = 'acme'): Promise<string> {
  let token = ''
  await makeInstance(env, async ({ workspaces, tokens }) => {
    const workspace = await workspaces.ensure(commandLine, workspaceName)
    const created = await tokens.create(commandLine(workspace.id), {
      name: 'test',
      scopes: SCOPES,
      expiresAt: null,
    })
    token = created.secret
  })
  return token
}
