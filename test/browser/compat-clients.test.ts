import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { CompatScope } from '@terse/contract/compat-services'
import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { launchChromium } from '../support/chromium.ts'
import { compatToken } from '../support/compat.ts'
import { SQLITE } from '../support/engines.ts'
import { startSite } from '../support/page-of-others.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** No file: what the page gets of the packages. */
const ENTRY_FILE = path.join(ROOT, 'clients.js')
const ENTRY = `export { ShlinkApiClient } from '@shlinkio/shlink-js-sdk'
export { FetchHttpClient } from '@shlinkio/shlink-js-sdk/fetch'
export { Kutt } from 'kutt'`

/** What Shlink's web client sends for its pages of a server, of a short URL, of tags and of domains. */
const SHLINK = `(async ({ baseUrl, apiKey }) => {
  const { ShlinkApiClient, FetchHttpClient } = clients
  const shlink = new ShlinkApiClient(new FetchHttpClient(), { baseUrl, apiKey })
  const { status, version } = await shlink.health()
  const longUrl = 'https://example.com/web-client'
  const { shortCode } = await shlink.createShortUrl({ longUrl, tags: ['web'], findIfExists: false })
  const id = { shortCode, domain: null }
  await shlink.updateShortUrl(id, { title: 'Web client', tags: ['web', 'edited'] })
  const rules = [{ longUrl: 'https://example.com/de', conditions: [{ type: 'language', matchKey: null, matchValue: 'de' }] }]
  await shlink.setShortUrlRedirectRules(id, { redirectRules: rules })
  const list = await shlink.listShortUrls({ page: '1', itemsPerPage: 20, orderBy: { field: 'dateCreated', dir: 'DESC' }, tags: ['web'] })
  const overview = await shlink.getVisitsOverview()
  const visits = await shlink.getShortUrlVisits(id, { page: 1, itemsPerPage: 5000 })
  const tags = await shlink.tagsStats()
  await shlink.editTag({ oldName: 'edited', newName: 'renamed' })
  const domains = await shlink.listDomains()
  const mercure = await shlink.mercureInfo().catch(({ status }) => status)
  await shlink.deleteShortUrl(id)
  const gone = await shlink.getShortUrl(id).catch(({ type }) => type)
  return {
    health: [status, version],
    listed: list.data.map(({ title, hasRedirectRules }) => [title, hasRedirectRules]),
    visits: [overview.nonOrphanVisits.total, visits.data.length],
    tags: tags.data.map(({ tag }) => tag),
    domains: domains.data.map(({ isDefault }) => isDefault),
    mercure,
    gone,
  }
})`

const KUTT = `(async ({ baseUrl, apiKey }) => {
  const kutt = new clients.Kutt().set('api', baseUrl + '/api/v2').set('key', apiKey)
  const { id } = await kutt.links().create({ target: 'https://example.com/page' })
  const { total } = await kutt.links().list()
  const refused = await kutt.links().update(id, { address: 'a b' }).catch(({ message }) => message)
  await kutt.links().remove(id)
  return { total, refused }
})`

describe('clients of other services in a page of another origin, in Chromium', {
  skip: skipWithout('chromium'),
}, () => {
  let browser: Browser
  let service: Service
  let site: Awaited<ReturnType<typeof startSite>>
  let bundle: string
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
    site = await startSite()
    await using built = await rolldown({
      input: ENTRY_FILE,
      platform: 'browser',
      cwd: ROOT,
      plugins: [
        {
          name: 'clients',
          resolveId: (id) => (id === ENTRY_FILE ? id : undefined),
          load: (id) => (id === ENTRY_FILE ? ENTRY : undefined),
        },
      ],
    })
    const { output } = await built.generate({ format: 'iife', name: 'clients' })
    bundle = output[0].code
  })
  after(async () => {
    await browser.close()
    await Promise.all([service.stop(), site[Symbol.asyncDispose]()])
  })

  /** Runs a program with the packages as its globals, in a page of another origin. */
  async function inPage(program: string, scope: CompatScope): Promise<unknown> {
    const page = await browser.newPage()
    await page.goto(site.url)
    await page.addScriptTag({ content: bundle })
    const baseUrl = `http://localhost:${service.port}`
    const given = { baseUrl, apiKey: await compatToken(service, scope, scope.replace(':', '-')) }
    // What the packages throw may be no error, which Chromium would not pass on.
    const thrown = '(error) => ({ message: error.message, ...error })'
    const result = await page.evaluate(`${program}(${JSON.stringify(given)}).catch(${thrown})`)
    await page.close()
    return result
  }

  test('creates, edits, lists and deletes as the web client of Shlink', async () => {
    assert.deepEqual(await inPage(SHLINK, 'compat:shlink'), {
      health: ['pass', '5.1.0'],
      listed: [['Web client', true]],
      visits: [0, 0],
      tags: ['edited', 'web'],
      domains: [true],
      mercure: 501,
      gone: 'https://shlink.io/api/error/short-url-not-found',
    })
  })

  test('creates, lists and deletes with the npm package of Kutt', async () => {
    assert.deepEqual(await inPage(KUTT, 'compat:kutt'), {
      total: 1,
      refused: 'Custom URL is not valid.',
    })
  })
})
