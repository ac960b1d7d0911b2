import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import { dropRefusals, expectCopied, expectFocusIn, inPersonPage } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { PASSWORD } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const ADA = 'ada@example.com'

// Storage plays no part here: one engine is enough.
describe('the page of the set-up', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    await service.token('acme')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  const on = (path: string, use: Parameters<typeof inPersonPage>[3]) =>
    inPersonPage(browser, service, path, use)

  test('says where the code of the set-up is, and shows each error at its field', async () => {
    await on('/setup', async (page, { faults }) => {
      await page.getByText('npx terse setup').waitFor()
      await expectAccessible(page)
      await page.getByLabel('Set-up code').fill('https://x.example/app/setup#code=wrong')
      assert.equal(await page.getByLabel('Set-up code').inputValue(), 'wrong')
      await page.getByLabel('Your name').fill('Ada')
      await page.getByLabel('E-mail').fill('ada@nowhere,')
      await page.getByLabel('Password', { exact: true }).fill('short')
      const submit = () => page.getByRole('button', { name: 'Create account' }).click()
      // The browser's own check comes first: it knows no such address.
      await page.getByLabel('E-mail').fill('ada@localhost')
      await submit()
      await page.getByText('Is wrong, was used before or has expired').waitFor()
      const code = await service.instance.setupLinks.create('test')
      await page.getByLabel('Set-up code').fill(code)
      await submit()
      await page.getByText(/Must have at least 15 characters/).waitFor()
      assert.equal(await page.getByLabel('Your name').inputValue(), 'Ada')
      assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), 'short')
      dropRefusals(faults, 2)
    })
  })

  test('says at another address which one is set, before anything is typed', async () => {
    const origin = `http://localhost:${service.port}`
    const here = `http://192.0.2.7:${service.port}`
    const context = await browser.newContext({ locale: 'en-GB' })
    try {
      // A machine's address in its network, over HTTP.
      await context.route(`${here}/**`, async (route) => {
        const url = route.request().url().replace(here, origin)
        await route.fulfill({ response: await route.fetch({ url }) })
      })
      const page = await context.newPage()
      await page.goto(`${here}/app/setup#code=abc`)
      const note = page.getByRole('alert')
      await note.getByText(`the address of this Terse is ${origin}`).waitFor()
      await note.getByText(`To use ${here} instead, set TERSE_BASE_URL`).waitFor()
      const right = note.getByRole('link', { name: `Open ${origin}` })
      assert.equal(await right.getAttribute('href'), `${origin}/app/setup#code=abc`)
      assert.equal(await page.getByLabel('Your name').count(), 0)
      await page.goto(`${here}/app/sign-in`)
      await note.getByText(`the address of this Terse is ${origin}`).waitFor()
      assert.equal(await page.getByLabel('E-mail').count(), 0)
      await expectAccessible(page)
    } finally {
      await context.close()
    }
  })

  test('leads by keyboard alone from the printed link to a copied short link', async () => {
    const code = await service.instance.setupLinks.create('test')
    await on(`/setup#code=${code}`, async (page) => {
      await page.getByText('Taken from your link.').waitFor()
      assert.equal(new URL(page.url()).hash, '', 'the code is not in the address bar')
      await expectFocusIn(page)
      await page.keyboard.type('Ada Lovelace')
      await page.keyboard.press('Tab')
      await page.keyboard.type(ADA)
      await page.keyboard.press('Tab')
      await page.keyboard.type(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Paste a long URL' }).waitFor()
      await expectFocusIn(page)
      await expectAccessible(page)
      await page.keyboard.type('not an address')
      await page.keyboard.press('Enter')
      await page
        .getByRole('alert')
        .getByText(/Type a complete address/)
        .waitFor()
      await page.keyboard.press('Control+A')
      await page.keyboard.type('example.com/first')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Your first short link' }).waitFor()
      await page.getByRole('status').getByText('Copied').waitFor()
      const address = await expectCopied(page, /localhost(?::\d+)?\/[\w-]+$/)
      await expectAccessible(page)
      await page.getByText('0 clicks').waitFor()
      await visit(service.port, new URL(address).pathname)
      await page.getByText('1 click').waitFor()
      await page.getByRole('button', { name: 'QR code' }).click()
      await page.getByRole('img', { name: `QR code of ${address}` }).waitFor()
      await page.keyboard.press('Escape')
      await page.reload()
      await page.waitForURL(/\/app\/links$/)
      await page.goBack()
    })
    await on('/setup', async (page) => {
      await page.getByText('This instance has been set up.').waitFor()
    })
  })
})
