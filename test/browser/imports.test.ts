import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import type { Api } from '../support/api.ts'
import { launchChromium } from '../support/chromium.ts'
import { inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const CSV = [
  'Short,Where to,Labels',
  'https://old.example/spring,https://example.com/spring,print',
  'https://old.example/evil,javascript:alert(1),',
  'https://old.example/autumn,https://example.com/autumn,"print, web"',
  '',
].join('\r\n')

const FILE = { name: 'links.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) }

// Storage plays no part here: one engine is enough.
describe('imports in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let api: Api
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  test('takes a CSV file from its columns over a dry run to links', async () => {
    await inDashboard(browser, service, '/links', async (page) => {
      await page.getByRole('link', { name: 'Import links' }).click()
      await page.getByRole('radio', { name: 'CSV', exact: false }).first().check({ force: true })
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('Choose a file').setInputFiles(FILE)
      assert.equal(await page.getByLabel('Short', { exact: true }).inputValue(), 'short_link')
      const values = page.getByRole('list', { name: 'Values of Where to' }).getByRole('listitem')
      assert.deepEqual(await values.allInnerTexts(), [
        'https://example.com/spring',
        'javascript:alert(1)',
        'https://example.com/autumn',
      ])
      await page.getByLabel('Where to', { exact: true }).selectOption('Destination')
      assert.equal(await page.getByLabel('Labels', { exact: true }).inputValue(), 'tags')
      await step(page, 'Options')
      await expectOnlyTry(page)
      await page.getByRole('button', { name: 'Change a domain' }).click()
      await page.getByLabel('Old domain').fill('old.example')
      await page.getByLabel('New domain').fill('localhost')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Try without writing' }).click()
      await page.getByText('Nothing was written.', { exact: false }).waitFor()
      await page.getByText('old.example/evil').waitFor()
      await step(page, 'Import')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Change options' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      assert.equal(await page.getByLabel('Where to', { exact: true }).inputValue(), 'url')
      assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)
      await page.getByRole('button', { name: 'Cancel', exact: true }).click()
      assert.equal((await api.get('/links')).body.data.length, 0)
      await page.reload()
      await page.getByRole('button', { name: 'Import', exact: true }).click()
      await page.getByText('The import is done.').waitFor()
      await page.getByRole('link', { name: 'Show links' }).click()
      await page.getByText('localhost/autumn').first().waitFor()
    })
    const { data } = (await api.get('/links?sort=key')).body
    const seen = data.map(({ key, tags }: { key: string; tags: string[] }) => [key, ...tags])
    assert.deepEqual(seen, [
      ['autumn', 'print', 'web'],
      ['spring', 'print'],
    ])
  })

  test('adds the domains of links that the workspace does not have yet', async () => {
    await inDashboard(browser, service, '/settings/imports/new', async (page) => {
      await page.getByRole('radio', { name: 'CSV', exact: false }).first().check({ force: true })
      await step(page, 'Source')
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('Choose a file').setInputFiles(FILE)
      await page.getByLabel('Where to', { exact: true }).selectOption('Destination')

      await page.getByRole('button', { name: 'Add a domain' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox').fill('first.acme.example')
      await dialog.getByRole('textbox').press('Enter')
      await dialog.waitFor({ state: 'detached' })
      const fallback = page.getByLabel('Links that name no domain go to')
      assert.equal(await fallback.inputValue(), 'first.acme.example')

      await page.getByRole('button', { name: 'Change a domain' }).click()
      await page.getByLabel('Old domain').fill('old.example')
      await page.getByLabel('New domain').fill('second.acme.example')
      await page.getByRole('button', { name: 'Add second.acme.example' }).click()
      await page.getByText('is not a domain of this workspace').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Try without writing' }).click()
      const hosts = page.getByRole('list', { name: 'Domains of these links' })
      await hosts.getByText('Its links redirect when its DNS is proved.').waitFor()

      await page.getByRole('button', { name: 'Change options' }).click()
      await page.getByLabel('New domain').fill('third.acme.example')
      await page.getByRole('button', { name: 'Try again' }).click()
      await hosts.getByRole('button', { name: 'Add third.acme.example' }).click()
      await hosts.getByText('Its links redirect when its DNS is proved.').waitFor()
      await page.getByRole('button', { name: 'Cancel import' }).click()
      await page.getByText('Cancelled').waitFor()
    })
    const { data } = (await api.get('/domains')).body
    const added = data.map(({ domain }: { domain: string }) => domain)
    assert.deepEqual(added.sort(), [
      'first.acme.example',
      'second.acme.example',
      'third.acme.example',
    ])
  })

  test('lists earlier imports, fits a phone in the dark, and speaks German', async () => {
    await inDashboard(
      browser,
      service,
      '/settings/imports',
      async (page) => {
        await page.getByRole('list', { name: 'Importe' }).getByText('CSV').last().click()
        await page.getByText('Der Import ist fertig.').waitFor()
        await expectAccessible(page)
        const width = await page.evaluate('document.documentElement.scrollWidth')
        assert.equal(width, 360)
      },
      { locale: 'de-DE', theme: 'dark', width: 360 },
    )
  })

  test('exports the workspace as a file', async () => {
    await inDashboard(browser, service, '/settings/imports', async (page) => {
      await page.getByLabel('Format').selectOption('ndjson')
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      assert.equal((await download).suggestedFilename(), 'acme.ndjson')
    })
  })
})

async function step(page: Page, name: string): Promise<void> {
  const steps = page.getByRole('list', { name: 'Steps of the import' })
  await steps.locator('[aria-current="step"]').getByText(name, { exact: true }).waitFor()
}

/** Before a trial nothing else sends the form. */
async function expectOnlyTry(page: Page): Promise<void> {
  const submit = page.locator('form button[type="submit"]')
  assert.deepEqual(await submit.allInnerTexts(), ['Try without writing'])
  assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)
}
