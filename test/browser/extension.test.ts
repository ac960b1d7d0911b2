import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { BROWSERS, manifestFor } from '../../scripts/build-extension.ts'
import { expectAccessible, expectFit } from '../support/accessibility.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { expectCopied } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type LoadedExtension, loadExtension, openInFirefox } from '../support/extension.ts'
import { startSite } from '../support/page-of-others.ts'
import { PASSWORD, type PersonClient, setUp } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

describe('the manifest of the extension', () => {
  for (const browser of BROWSERS) {
    test(`asks for the tab, storage and, once it is named, the service in ${browser}`, () => {
      const manifest = manifestFor(browser, '1.2.3')
      assert.deepEqual(manifest.permissions, ['activeTab', 'storage'])
      assert.deepEqual(manifest.optional_host_permissions, ['https://*/*', 'http://*/*'])
      const asked = Object.keys(manifest).filter((name) => /permissions|content_scripts/.test(name))
      assert.deepEqual(asked, ['permissions', 'optional_host_permissions'])
    })
  }
})

describe('the extension in Chromium', { skip: skipWithout('chromium') }, () => {
  let service: Service
  let site: Awaited<ReturnType<typeof startSite>>
  let extension: LoadedExtension
  let api: Api
  let owner: PersonClient
  /** The tab whose page is shortened. */
  let tab: Page
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api('acme')
    owner = await setUp(service)
    const { memberships } = (await owner.get('/session')).body
    owner.workspaceId = memberships[0].workspace_id
    site = await startSite((request, response) => {
      const title = `${new URL(request.url ?? '/', 'http://site').pathname.slice(1)} – Acme`
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<title>${title}</title><p>A page`)
    })
    extension = await loadExtension()
    tab = await extension.context.newPage()
  })
  after(async () => {
    await extension?.close()
    await site?.[Symbol.asyncDispose]()
    await service?.stop()
  })

  const host = () => `localhost:${service.port}`
  const visit = async (path: string): Promise<string> => {
    await tab.bringToFront()
    await tab.goto(site.url + path)
    return site.url + path
  }
  const listed = async (url: string) =>
    (await api.get(`/links?url=${encodeURIComponent(url)}`)).body.data
  const useToken = async (token: string) => {
    const options = await extension.openOptions()
    await options.getByLabel('Address').fill(host())
    await options.getByText('With a token').click()
    await options.getByLabel('Token', { exact: true }).fill(token)
    await options.getByRole('button', { name: 'Use the token' }).click()
    return options
  }
  /** The width of a popup is its own. */
  const expectAccessiblePopup = async (popup: Page) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await popup.emulateMedia({ colorScheme })
      await expectFit(popup)
    }
  }
  const draftKey = () =>
    extension.inBackground("chrome.storage.session.get('draft').then(({ draft }) => draft?.key)")
  const close = async (popup: Page) => {
    const closed = popup.waitForEvent('close')
    await popup.evaluate('setTimeout(() => window.close())')
    await closed
  }

  test('refuses an address without a service, and a token that it does not know, at their fields', async () => {
    const options = await useToken('terse_unknown')
    await options.getByText('The service does not know this token').waitFor()
    assert.equal(
      await options.getByLabel('Token', { exact: true }).getAttribute('aria-invalid'),
      'true',
    )
    await options.getByLabel('Address').fill(new URL(site.url).host)
    await options.getByRole('button', { name: 'Sign in' }).click()
    await options.getByText('There is no Terse at this address.').waitFor()
    await options.getByLabel('Address').fill('http://links.example.com')
    await options.getByText('Without https, others on the network').waitFor()
    await expectAccessible(options)
    await options.close()
  })

  test('opens by keys that the browser accepts', async () => {
    const commands = await extension.inBackground('chrome.commands.getAll()')
    assert.deepEqual(
      (commands as { name: string; shortcut: string }[]).map(({ name, shortcut }) => [
        name,
        shortcut,
      ]),
      [
        ['_execute_action', 'Alt+Shift+S'],
        ['make-and-copy', 'Alt+Shift+L'],
      ],
    )
  })

  test('makes and copies a link to the page by its keys and Enter, without the tracking', async () => {
    const token = await service.token('acme', ['links:read', 'links:write', 'domains:read'])
    const options = await useToken(token)
    await options.getByText('Open a page and press Alt + Shift + S.').waitFor()
    await options.close()
    const address = await visit('two-warehouses?page=1&utm_source=news')
    const popup = await extension.openPopup()
    await popup.getByText('Free').waitFor()
    await popup.getByText('utm_source').waitFor()
    await expectAccessiblePopup(popup)
    assert.equal(await popup.evaluate('document.activeElement.value'), 'two-warehouses')
    await popup.keyboard.press('Tab')
    await popup.keyboard.type('blog,')
    await popup.getByLabel('Short link').press('Enter')
    await popup.getByText('Copied').waitFor()
    await expectAccessiblePopup(popup)
    const [link, ...others] = await listed(address.replace('&utm_source=news', ''))
    assert.deepEqual([link.key, link.tags, others], ['two-warehouses', ['blog'], []])
    await expectCopied(popup, new RegExp(`^http://${host()}/two-warehouses$`))
    await popup.getByRole('img', { name: 'QR code of localhost/two-warehouses' }).waitFor()
    await popup.evaluate("document.querySelector('.code img').decode()")
    await close(popup)
  })

  test('shows the link of a page that has one, and copies it in place of a second', async () => {
    const address = await visit('two-warehouses?page=1')
    const expired = { domain: 'localhost', url: address, expires_at: '2020-01-01T00:00:00Z' }
    expectStatus(await api.post('/links', expired), 201)
    const popup = await extension.openPopup()
    await popup.getByText('1 link leads here').waitFor()
    await expectAccessiblePopup(popup)
    await popup.keyboard.press('Enter')
    await popup.getByText('Copied').waitFor()
    assert.equal((await listed(address)).length, 2)
    await popup.getByRole('button', { name: 'Last links' }).click()
    await popup.getByRole('button', { name: 'Copy localhost/two-warehouses' }).waitFor()
    await close(popup)
  })

  test('shows at the field that a key is taken, keeps the draft, and undoes a link', async () => {
    const address = await visit('winter')
    const popup = await extension.openPopup()
    const key = popup.getByLabel('Short link')
    await popup.getByText('Free').waitFor()
    await key.fill('two-warehouses')
    await key.press('Enter')
    await popup.getByText('Another link has this key.').waitFor()
    assert.equal(await key.getAttribute('aria-invalid'), 'true')
    await close(popup)
    // The proposal for another page still gives way where its key is taken.
    await visit('two-warehouses?page=2')
    const other = await extension.openPopup()
    await other.waitForFunction("document.getElementById('key')?.value === ''")
    assert.equal(await other.getByText('Another link has this key.').count(), 0)
    await close(other)
    await visit('winter')
    const again = await extension.openPopup()
    await again.getByText('Another link has this key.').waitFor()
    await again.getByLabel('Short link').fill('winter-2')
    await again.getByLabel('Short link').press('Enter')
    await again.getByText('Copied').waitFor()
    await again.getByRole('button', { name: 'Undo' }).click()
    await again.getByRole('button', { name: 'Create and copy' }).waitFor()
    assert.deepEqual(await listed(address), [])
    await close(again)
  })

  test('reports a service that cannot be reached, and a token that was revoked', async () => {
    await visit('autumn')
    const popup = await extension.openPopup()
    await popup.getByText('Free').waitFor()
    await popup.context().setOffline(true)
    await popup.getByLabel('Short link').press('Enter')
    await popup.getByText(`${host()} cannot be reached.`).waitFor()
    await popup.context().setOffline(false)
    const { body } = await owner.get('/tokens')
    for (const { id } of body.data) assert.equal((await owner.delete(`/tokens/${id}`)).status, 200)
    await popup.getByLabel('Short link').press('Enter')
    await popup.getByText('Sign in again').waitFor()
    await close(popup)
    assert.equal(await draftKey(), 'autumn')
    api = await service.api('acme')
  })

  test('signs in by the consent of a person, makes a link at once, and ends when it is withdrawn', async () => {
    const cookies = owner.cookie.split('; ').map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return { name, value, url: `http://${host()}` }
    })
    await extension.context.addCookies(cookies)
    const options = await extension.openOptions()
    // The address is that of the connection which has ended.
    await options.getByRole('button', { name: 'Sign in' }).click()
    await options.getByText('Let the browser extension work with links of').waitFor()
    await options.getByText('It answers at localhost').waitFor()
    await expectAccessible(options)
    await options.getByRole('button', { name: 'Allow' }).click()
    await options.getByText('You are signed in.').waitFor()
    await options.getByText('Makes links in').waitFor()
    assert.equal(await draftKey(), 'autumn')
    const address = await visit('spring')
    await extension.inBackground('chrome.storage.session.set({ atOnce: true })')
    const popup = await extension.openPopup()
    await popup.getByText('Copied').waitFor()
    const [link] = await listed(address)
    await expectCopied(popup, new RegExp(`/${link.key}$`))
    // What was not ticked on the page.
    assert.equal(await popup.getByRole('button', { name: 'Undo' }).count(), 0)
    await close(popup)
    // The access token runs out.
    await extension.inBackground(`chrome.storage.local.get('connection').then(({ connection }) =>
      chrome.storage.local.set({ connection: { ...connection, accessUntil: 0, access: 'terse_access_x' } }))`)
    const renewed = await extension.openPopup()
    await renewed.getByText('1 link leads here').waitFor()
    await close(renewed)
    const { body } = await owner.get('/assistants')
    assert.deepEqual(
      body.data.map((each: { client: { id: string } }) => each.client.id),
      ['browser-extension'],
    )
    assert.equal((await owner.delete(`/assistants/${body.data[0].id}`)).status, 200)
    const ended = await extension.openPopup()
    await ended.getByText('Sign in again').waitFor()
    await close(ended)
    await options.close()
  })

  test('ignores an answer that is none to the sign-in which it has begun', async () => {
    const options = await extension.openOptions()
    await options.getByRole('button', { name: 'Sign in' }).click()
    await options.getByText('Let the browser extension work with links of').waitFor()
    const iss = encodeURIComponent(`http://${host()}`)
    await tab.goto(`http://${host()}/app/extension#code=terse_code_x&state=x&iss=${iss}`)
    await tab.getByText('Allowed. The extension signs in.').waitFor()
    // The sign-in goes on, so the answer has ended nothing.
    await options.getByRole('button', { name: 'Allow' }).click()
    await options.getByText('You are signed in.').waitFor()
    assert.match(tab.url(), /\/app\/extension#/)
    await options.getByRole('button', { name: 'Disconnect' }).click()
    await options.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual((await owner.get('/assistants')).body.data, [])
    await options.close()
  })
})

describe('the extension in Firefox', { skip: skipWithout('firefox') }, () => {
  test('signs in by the consent of a person, and makes and copies a link by its popup', async () => {
    const service = await startService(SQLITE)
    const api = await service.api('acme')
    await setUp(service)
    const firefox = await openInFirefox()
    const see = (words: string) =>
      eventually(async () => {
        const seen = await firefox.evaluate('document.body.innerText')
        assert.ok(String(seen).includes(words), `${words} is not in ${seen}`)
      })
    const act = (expression: string) => firefox.evaluate(`void ${expression}`)
    try {
      await see('Which Terse makes your links?')
      await act(`(document.getElementById('address').value = 'localhost:${service.port}')`)
      await act("document.getElementById('address').focus()")
      await firefox.press('Enter')
      await see('Password')
      const session = JSON.stringify({ email: 'ada@example.com', password: PASSWORD })
      await firefox.evaluate(`fetch('/api/v1/session', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(session)},
      }).then(({ status }) => status)`)
      await act("location.assign('/app' + new URLSearchParams(location.search).get('to'))")
      await see('Let the browser extension work with links of')
      await act("document.querySelector('button[type=submit]').click()")
      await see('You are signed in.')
      await see('Open a page and press')
      // In a tab there is no page below it: the popup asks for an address.
      await act("location.assign(chrome.runtime.getURL('popup.html'))")
      await see('Destination')
      await firefox.type('https://example.com/sale')
      await firefox.press('Enter')
      await see('Link made')
      await see('Copied')
      const { data } = (await api.get('/links')).body
      assert.deepEqual(
        data.map(({ url }: { url: string }) => url),
        ['https://example.com/sale'],
      )
    } finally {
      await firefox.close()
      await service.stop()
    }
  })
})
