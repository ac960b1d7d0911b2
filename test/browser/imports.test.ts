import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
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
      await page.getByLabel('Short link', { exact: true }).selectOption('Short')
      await page.getByLabel('Destination', { exact: true }).selectOption('Where to')
      await page.getByLabel('Tags').selectOption('Labels')
      await page.getByRole('button', { name: 'Change a domain' }).click()
      await page.getByLabel('Old domain').fill('old.example')
      await page.getByLabel('New domain').fill('localhost')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Try without writing' }).click()
      await page.getByText('Nothing was written.', { exact: false }).waitFor()
      await page.getByText('old.example/evil').waitFor()
      await expectAccessible(page)
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

  test('lists earlier imports, fits a phone in the dark, and speaks German', async () => {
    await inDashboard(
      browser,
      service,
      '/settings/imports',
      async (page) => {
        await page.getByRole('list', { name: 'Importe' }).getByText('CSV').click()
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
