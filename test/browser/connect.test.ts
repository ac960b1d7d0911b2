import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible, expectNoSidewaysScroll } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import {
  type Dashboard,
  type DashboardOptions,
  expectCopied,
  inDashboard,
} from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const PATH = '/settings/connect'

describe('assistants in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let program: Server
  let callback: string
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE, { TERSE_OAUTH_REGISTRATION: 'on' })
    program = createServer((_request, response) => response.end('Connected.'))
    await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
    callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
  })
  after(async () => {
    await browser.close()
    program.close()
    await service.stop()
  })

  const on = (
    path: string,
    use: (page: Page, dashboard: Dashboard) => Promise<void>,
    options?: DashboardOptions,
  ) => inDashboard(browser, service, path, use, options)
  const post = async (path: string, type: string, body: string) => {
    const headers = { 'content-type': type }
    const response = await fetch(service.baseUrl + path, { method: 'POST', headers, body })
    return (await response.json()) as Record<string, string>
  }
  /** The page to which a program sends the browser. */
  const begin = async (scope: string) => {
    const metadata = JSON.stringify({ client_name: 'Orbit Desktop', redirect_uris: [callback] })
    const { client_id = '' } = await post('/api/oauth/register', 'application/json', metadata)
    const verifier = randomBytes(32).toString('base64url')
    const asked = new URLSearchParams({
      ...{ client_id, redirect_uri: callback, response_type: 'code', scope, state: '1' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    return { client_id, verifier, path: `/authorize?${asked}` }
  }

  test('are allowed on a page that says what they may do, then listed and withdrawn', async () => {
    const { client_id, verifier, path } = await begin('links:read clicks:read links:delete')
    let code = ''
    await on(path, async (page, { faults }) => {
      await page.getByRole('heading', { name: 'Let Orbit Desktop work with links of' }).waitFor()
      const box = (name: RegExp) => page.getByRole('checkbox', { name })
      assert.equal(await box(/Find links/).isChecked(), true)
      assert.equal(await box(/Delete links/).isChecked(), false)
      assert.equal(await box(/Create and change/).count(), 0)
      await expectAccessible(page)
      await box(/Read charts/).uncheck()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText('Connected.').waitFor()
      const answer = new URL(page.url()).searchParams
      assert.equal(answer.get('state'), '1')
      code = answer.get('code') ?? ''
      // The program is another host.
      faults.splice(0)
    })
    const form = new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id, code },
      ...{ redirect_uri: callback, code_verifier: verifier },
    })
    const type = 'application/x-www-form-urlencoded'
    const tokens = await post('/api/oauth/token', type, form.toString())
    assert.equal(tokens.scope, 'links:read')
    await on(PATH, async (page) => {
      await page.getByText('Finds links · ').waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Withdraw: Orbit Desktop' }).click()
      await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
      await page.getByText('No assistant has been allowed yet.').waitFor()
    })
  })

  test('get nothing when the person cancels, on a phone and in German', async () => {
    const { path } = await begin('links:read links:write')
    await on(
      path,
      async (page, { faults }) => {
        await page.getByRole('heading', { name: 'Orbit Desktop mit Links von' }).waitFor()
        await expectNoSidewaysScroll(page)
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Abbrechen' }).click()
        await page.getByText('Connected.').waitFor()
        assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
        faults.splice(0)
      },
      { locale: 'de-DE', width: 390, height: 844 },
    )
  })

  test('send the browser nowhere when their address is not one that they have named', async () => {
    const { path } = await begin('links:read')
    const other = path.replace(encodeURIComponent(callback), encodeURIComponent(`${callback}/x`))
    await on(other, async (page, { faults }) => {
      await page.getByText('This request cannot be granted.').waitFor()
      await page.getByText('is no address of this program').waitFor()
      assert.equal(new URL(page.url()).pathname, '/app/authorize')
      // The browser reports the refusal.
      faults.splice(0)
    })
  })

  test('other programs get a key once the API of their service is on', async () => {
    await on(PATH, async (page) => {
      await page.getByRole('checkbox', { name: /Kutt/ }).check()
      for (const [what, text] of [
        ['address', /^http:\/\/localhost:\d+\/api\/v2$/],
        ['server', /^http:\/\/localhost:\d+$/],
      ] as const) {
        await page.getByRole('button', { name: `Copy ${what}: Kutt` }).click()
        await expectCopied(page, text)
      }
      await page.getByRole('button', { name: 'Create key: Kutt' }).click()
      await page.getByRole('dialog', { name: 'Key for clients of Kutt' }).waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('Answers clients of Kutt').waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await page.getByRole('checkbox', { name: /Kutt/ }).uncheck()
      await page.getByRole('button', { name: 'Create key: Kutt' }).waitFor({ state: 'detached' })
    })
  })

  test('get the reason of a refusal when the person goes back to them, not by the address alone', async () => {
    const { path } = await begin('links:read')
    await on(path.replace('S256', 'plain'), async (page, { faults }) => {
      await page.getByText('This request cannot be granted.').waitFor()
      await page.getByText('invalid_request').waitFor()
      await expectAccessible(page)
      const { host } = new URL(callback)
      await page.getByRole('button', { name: `Go back to ${host}` }).click()
      await page.getByText('Connected.').waitFor()
      assert.equal(new URL(page.url()).searchParams.get('error'), 'invalid_request')
      faults.splice(0)
    })
  })

  test('a bookmark opens the form of a new link for the page that is read', async () => {
    await on(PATH, async (page, { faults }) => {
      const bookmark = page.getByRole('link', { name: 'Shorten' })
      const script = String(await bookmark.getAttribute('href')).replace('javascript:', '')
      await bookmark.click()
      await page.getByText('Drag it to the bookmarks of your browser', { exact: true }).waitFor()
      await page.goto(callback)
      const opened = page.waitForEvent('popup')
      await page.evaluate(decodeURIComponent(script))
      const form = await opened
      await form.getByLabel('Destination').waitFor()
      assert.equal(await form.getByLabel('Destination').inputValue(), callback)
      faults.splice(0)
    })
  })

  test('are switched off for the workspace', async () => {
    await on(PATH, async (page) => {
      await page.getByRole('checkbox', { name: 'Assistants may connect' }).uncheck()
      await page.getByText('Assistants cannot connect to this workspace.').first().waitFor()
      await page.getByText('"mcpServers"').waitFor({ state: 'detached' })
      await page.getByRole('checkbox', { name: 'Assistants may connect' }).check()
      await page.getByText('"mcpServers"').waitFor()
    })
  })
})
