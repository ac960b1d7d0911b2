import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import { dropRefusals, expectFocusIn, inPersonPage } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, startMailbox } from '../support/mailbox.ts'
import { type PersonClient, setUp } from '../support/person-client.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const NEW = 'ada@lovelace.example'

// Storage plays no part here: one engine is enough.
describe('the profile', { skip: skipWithout('chromium') }, () => {
  const started = new AsyncDisposableStack()
  let browser: Browser
  let mailbox: Mailbox
  let service: Service
  let ada: PersonClient
  before(async () => {
    browser = await launchChromium()
    started.defer(() => browser.close())
    mailbox = await startMailbox()
    started.defer(() => mailbox.stop())
    const settings = { TERSE_SMTP_URL: mailbox.url, TERSE_MAIL_FROM: 'Terse <terse@example.com>' }
    service = await startService(SQLITE, settings)
    started.defer(() => service.stop())
    await service.token('acme')
    ada = await setUp(service)
  })
  after(() => started.disposeAsync())

  test('changes the address by keyboard, with the link that went to the new one', async () => {
    await inPersonPage(
      browser,
      service,
      '/settings/profile',
      async (page, { faults, origin }) => {
        await page.getByRole('button', { name: 'Change', exact: true }).press('Enter')
        const first = page.getByRole('dialog', { name: 'Change your e-mail address' })
        await expectFocusIn(first)
        await page.keyboard.type(NEW)
        await page.keyboard.press('Enter')
        const second = page.getByRole('dialog', { name: 'Confirm your new address' })
        await expectFocusIn(second)
        await expectAccessible(page)
        await page.keyboard.type('wrong')
        await page.keyboard.press('Enter')
        await second.getByText('Is not valid: it was used, replaced or has expired').waitFor()
        const link = await eventually(async () => {
          const found = /http:\S+\/app(\/settings\/profile#code=[\w-]{43})/.exec(
            mailbox.received[0]?.text ?? '',
          )
          assert.ok(found)
          return found[1]
        })
        await page.goto('about:blank')
        await page.goto(`${origin}/app${link}`)
        await page
          .getByRole('dialog', { name: 'Confirm your new address' })
          .getByRole('button', { name: 'Confirm' })
          .click()
        await page.getByText('Address changed.').waitFor()
        assert.equal(await page.getByLabel('E-mail').inputValue(), NEW)
        assert.equal(new URL(page.url()).hash, '', 'the code is not in the address bar')
        dropRefusals(faults, 1)
      },
      { as: ada },
    )
  })
})
