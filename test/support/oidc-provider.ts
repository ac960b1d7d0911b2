import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { INHERITED_ENV } from './inherited-env.ts'
import { withCookies } from './person-client.ts'

const SCRIPT = fileURLToPath(new URL('./oidc-provider-process.ts', import.meta.url))
export const CLIENT_SECRET = 'the-secret-of-the-client-0123456789'

/** A certified provider of single sign-on, in its own process. */
export type OidcProviderProcess = {
  readonly issuer: string
  setGroups(groups: Readonly<Record<string, readonly string[]>>): Promise<void>
  /**
   * Goes through the provider's pages as a browser does; returns the address of the callback.
   *
   * @param account undefined for a person who refuses
   */
  signIn(url: string, account: string | undefined): Promise<string>
  stop(): Promise<void>
}

export async function startOidcProvider(redirectUri: string): Promise<OidcProviderProcess> {
  const port = await freePort()
  const issuer = `http://localhost:${port}`
  const child = spawn(process.execPath, [SCRIPT, String(port), redirectUri, CLIENT_SECRET], {
    env: INHERITED_ENV,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  if (line !== 'ready') throw new Error(`the provider printed ${line}`)
  return {
    issuer,
    async setGroups(groups) {
      await fetch(`${issuer}/groups`, { method: 'POST', body: JSON.stringify(groups) })
    },
    async signIn(url, account) {
      let cookie = ''
      let next = url
      for (let step = 0; step < 10 && !next.startsWith(redirectUri); step += 1) {
        const target = new URL(next)
        if (target.pathname.startsWith('/interaction/') && account !== undefined) {
          target.searchParams.set('account', account)
        }
        const response = await fetch(target, { redirect: 'manual', headers: { cookie } })
        cookie = withCookies(cookie, response.headers.getSetCookie())
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${next}: ${await response.text()}`)
        next = new URL(location, target).href
      }
      return next
    },
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
