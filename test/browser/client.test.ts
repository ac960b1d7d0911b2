import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { launchChromium } from '../support/chromium.ts'
import { SQLITE } from '../support/engines.ts'
import { MAY_READ, startSite } from '../support/page-of-others.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

const CLIENT = fileURLToPath(new URL('../../client/src/index.ts', import.meta.url))
const ROOT = path.dirname(path.dirname(path.dirname(CLIENT)))

/** What a page of another origin does with the client, which is global there. */
const PROGRAM = `(async ({ url, token }) => {
  const { ApiError, dataOf, eachOf, openClient, versionOf } = client
  const terse = openClient({ url, token })
  const body = { domain: 'localhost', key: 'spring', url: 'https://example.com/' }
  const { id } = await dataOf(terse.POST('/api/v1/links', { body }))
  const keys = []
  for await (const { key } of eachOf((cursor) =>
    terse.GET('/api/v1/links', { params: { query: { cursor, per_page: 1 } } }),
  )) keys.push(key)
  const shown = await terse.GET('/api/v1/links/{id}', { params: { path: { id } } })
  const change = (version) =>
    dataOf(terse.PATCH('/api/v1/links/{id}', {
      params: { path: { id }, header: { 'if-match': version } },
      body: { url: 'https://example.com/summer' },
    }))
  const changed = await change(versionOf(shown))
  const refusal = await change(versionOf(shown)).catch((error) => error)
  const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 })
  const picture = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
  const image = await dataOf(
    terse.POST('/api/v1/images', { body: picture, headers: { 'content-type': picture.type } }),
  )
  const code = await dataOf(
    terse.GET('/api/v1/links/{id}/qr-code', { params: { path: { id } }, parseAs: 'blob' }),
  )
  return {
    keys,
    changed: changed.url,
    refusal: [refusal instanceof ApiError, refusal.status],
    image: image.width,
    code: code.type,
  }
})`

describe('the typed client in Chromium', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  let site: Awaited<ReturnType<typeof startSite>>
  let bundle: string
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE, MAY_READ)
    site = await startSite()
    await using built = await rolldown({ input: CLIENT, cwd: ROOT })
    const { output } = await built.generate({ format: 'iife', name: 'client' })
    bundle = output[0].code
  })
  after(async () => {
    await browser.close()
    await Promise.all([service.stop(), site[Symbol.asyncDispose]()])
  })

  test('creates, lists, changes and uploads from a page of another origin', async () => {
    const page = await browser.newPage()
    await page.goto(site.url)
    await page.addScriptTag({ content: bundle })
    const given = { url: `http://localhost:${service.port}`, token: await service.token('acme') }
    assert.deepEqual(await page.evaluate(`${PROGRAM}(${JSON.stringify(given)})`), {
      keys: ['spring'],
      changed: 'https://example.com/summer',
      refusal: [true, 412],
      image: 8,
      code: 'image/png',
    })
    await page.close()
  })
})
