import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { expectAccessible } from '../support/accessibility.ts'
import { launchChromium } from '../support/chromium.ts'
import { inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { createLink, type LinkBody } from '../support/links.ts'
import { lockCounters } from '../support/lock-counters.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

describe('the dashboard while counting is behind', { skip: skipWithout('chromium') }, () => {
  const clock = fakeClock(Date.now())
  /** The instant of the only click, in the time zone of the browser. */
  const time = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' },
  }).format(clock.nowMicros() / 1_000)
  let browser: Browser
  let service: Service
  let link: LinkBody
  const ended = new AsyncDisposableStack()
  before(async () => {
    browser = await launchChromium()
    ended.defer(() => browser.close())
    service = await startService(SQLITE, {}, { clock })
    ended.defer(() => service.stop())
    link = await createLink(await service.api(), { key: 'clicked' })
    const unlock = await lockCounters(service.place)
    ended.defer(unlock)
    await visit(service.port, '/clicked')
    clock.move(15)
  })
  after(() => ended.disposeAsync())

  const english = new RegExp(`Clicks are counted until .*${time}`)
  const german = new RegExp(`Klicks sind bis .*${time} gezählt`)
  for (const { name, path, locale, text } of [
    { name: 'list of links', path: () => '/links', locale: 'en-GB', text: english },
    { name: 'list of links, in German', path: () => '/links', locale: 'de-DE', text: german },
    { name: 'page of a link', path: () => `/links/${link.id}`, locale: 'en-GB', text: english },
    { name: 'analytics', path: () => '/analytics', locale: 'en-GB', text: english },
  ]) {
    test(`says until when clicks are counted: ${name}`, async () => {
      const expectNote: Parameters<typeof inDashboard>[3] = async (page) => {
        await page.getByText(text).waitFor()
        await expectAccessible(page)
      }
      await inDashboard(browser, service, path(), expectNote, { locale })
    })
  }
})
