import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openChromium } from '../support/chromium-driver.ts'
import { SQLITE } from '../support/engines.ts'
import { openFirefox } from '../support/firefox-driver.ts'
import { isLongForm } from '../support/long-form.ts'
import type { PageDriver, PageOptions } from '../support/page-driver.ts'
import { type Hand, PagePerson } from '../support/page-person.ts'
import { PASSWORD, setUp } from '../support/person-client.ts'
import { type Program, skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'
import { openWebKit } from '../support/webkit-driver.ts'

type Browser = {
  readonly name: string
  readonly hands: readonly Hand[]
  readonly programs: readonly Program[]
  open(options: PageOptions): Promise<PageDriver>
}

/** The short form runs in the first one: the others take most of a minute each. */
const BROWSERS: readonly Browser[] = [
  {
    name: 'Chromium',
    hands: ['keyboard', 'touch'],
    programs: ['chromium'],
    open: openChromium,
  },
  { name: 'Firefox', hands: ['keyboard', 'touch'], programs: ['firefox'], open: openFirefox },
  // WebKitGTK makes clicks of a mouse from the touches of its driver.
  { name: 'WebKit', hands: ['keyboard'], programs: ['webkitDriver', 'xvfb'], open: openWebKit },
]

const VIEWPORTS: Readonly<Record<Hand, PageOptions>> = {
  keyboard: { width: 1_280, height: 800, isTouched: false },
  touch: { width: 390, height: 800, isTouched: true },
}

/** A folder that gets a picture of the page after each act. */
const PICTURES = process.env.DAILY_ACTS_PICTURES

/** What is on the page of links before the first act. */
const LINKS = [
  { domain: 'localhost', key: 'spring', url: 'https://example.com/spring', tags: ['season'] },
  { domain: 'localhost', key: 'summer', url: 'https://example.com/summer', tags: ['season'] },
  { domain: 'localhost', key: 'office', url: 'https://example.com/office' },
]

type Act = {
  readonly name: string
  run(person: PagePerson): Promise<void>
}

const NAVIGATION = ['navigation', 'Main'] as const
const SELECTED = ['toolbar', 'Selected links'] as const
const rowOf = (key: string) => ['row', new RegExp(key)] as const

async function goTo(person: PagePerson, page: string): Promise<void> {
  await person.use('link', new RegExp(`^${page}`), NAVIGATION)
}

/** In their order: some are about what others have made. */
const ACTS: readonly Act[] = [
  {
    name: 'sign in',
    async run(person) {
      await person.fill('textbox', 'E-mail', 'ada@example.com')
      await person.fill('textbox', 'Password', PASSWORD)
      await person.use('button', 'Sign in')
      await person.see(...rowOf('spring'))
    },
  },
  {
    name: 'make a link',
    async run(person) {
      if (person.hand === 'keyboard') await person.press('c')
      else await person.use('link', 'Create link')
      await person.fill('textbox', 'Destination', 'example.com/autumn')
      await person.fill('textbox', 'Key', 'autumn')
      await person.hear(/go\.localhost\/autumn is free/)
      if (person.hand === 'keyboard') await person.press('Enter')
      else await person.use('button', 'Create link')
      await person.hear(/Link created and copied/)
      await person.see(...rowOf('autumn'))
      assert.match(await person.paste(), /^http:\/\/go\.localhost:\d+\/autumn$/)
    },
  },
  {
    name: 'copy a link',
    async run(person) {
      await goTo(person, 'Links')
      await person.use('button', 'Copy link', rowOf('spring'))
      await person.hear(/Copied/)
      assert.match(await person.paste(), /^http:\/\/localhost:\d+\/spring$/)
    },
  },
  {
    name: 'find a link',
    async run(person) {
      if (person.hand === 'keyboard') await person.press('/')
      await person.fill('searchbox', 'Search', 'summ')
      await person.hear(/1 link/)
      await person.see(...rowOf('summer'))
    },
  },
  {
    name: 'change a link',
    async run(person) {
      await person.use('link', /summer/, rowOf('summer'))
      await person.use('link', 'Edit', ['region', 'What this link does'])
      await person.fill('textbox', 'Destination', 'https://example.com/summer-sale')
      await person.use('button', 'Save changes')
      await person.hear(/Changes saved/)
    },
  },
  {
    name: 'retag two links',
    async run(person) {
      await goTo(person, 'Links')
      await person.check(/spring/, rowOf('spring'))
      await person.check(/office/, rowOf('office'))
      await person.hear(/2 selected/)
      await person.use('button', 'Tag', SELECTED)
      await person.fill('combobox', 'Add tags', 'team')
      await person.use('button', 'Tag', ['dialog', 'Tag 2 links'])
      await person.hear(/2 links changed/)
    },
  },
  {
    name: 'move two links',
    async run(person) {
      await person.use('button', 'Move', SELECTED)
      await person.choose('Domain', 'go.localhost')
      await person.use('button', 'Move', ['dialog', 'Move 2 links to another domain'])
      await person.hear(/2 links changed/)
      await person.see('row', /go\.localhost\/spring/)
    },
  },
  {
    name: 'delete a link, and undo that',
    async run(person) {
      if (person.hand === 'keyboard') {
        await person.use('button', 'Actions for autumn', rowOf('autumn'))
        await person.use('menuitem', 'Delete')
      } else {
        await person.use('button', 'Clear selection', SELECTED)
        await person.check(/autumn/, rowOf('autumn'))
        await person.use('button', 'Delete', SELECTED)
      }
      await person.hear(/Deleted go\.localhost\/autumn|1 link deleted/)
      await person.expectFocus()
      await person.use('button', 'Undo', ['dialog', /^(Deleted|1 link deleted)/])
      await person.see('row', /go\.localhost\/autumn/)
    },
  },
  {
    name: 'compare two links',
    async run(person) {
      await goTo(person, 'Analytics')
      await person.use('button', 'Compare links')
      await person.check(/spring/)
      await person.check(/summer/)
      await person.use('button', 'Show')
      await person.see('list', '2 links compared')
    },
  },
  {
    name: 'add a domain',
    async run(person) {
      await goTo(person, 'Domains')
      await person.use('button', 'Add domain')
      await person.fill('textbox', 'Host name', 'links.acme.example')
      await person.use('button', 'Add domain', ['dialog', 'Add a domain'])
      await person.hear(/links\.acme\.example is added/)
      await person.use('button', /^Copy terse-verify=/, [
        'group',
        'DNS records of links.acme.example',
      ])
      await person.hear(/Copied/)
      assert.match(await person.paste(), /^terse-verify=\w+$/)
    },
  },
  {
    name: 'invite a person',
    async run(person) {
      if (person.hand === 'keyboard') await goTo(person, 'Settings')
      else {
        await person.use('button', 'More', NAVIGATION)
        await person.use('menuitem', 'Settings')
      }
      await person.use('link', 'Members')
      await person.use('button', 'Invite')
      await person.fill('textbox', 'E-mail', 'grace@example.com')
      await person.choose('Role', 'Viewer')
      await person.use('button', 'Create invitation')
      await person.use('button', 'Copy link')
      await person.hear(/Copied/)
      assert.match(await person.paste(), /\/app\/invitation/)
    },
  },
]

for (const { name, hands, programs, open } of BROWSERS.slice(0, isLongForm ? undefined : 1)) {
  for (const hand of hands) {
    describe(`the daily acts in ${name}, by ${hand}`, { skip: skipWithout(...programs) }, () => {
      let service: Service | undefined
      let page: PageDriver | undefined
      let person: PagePerson
      let hasFailed = false
      before(async () => {
        service = await startService(SQLITE)
        const api = await service.api()
        await api.post('/domains', { domain: 'go.localhost' })
        for (const link of LINKS) await api.post('/links', link)
        await setUp(service)
        page = await open(VIEWPORTS[hand])
        person = new PagePerson(page, hand)
        await person.open(`http://localhost:${service.port}/app/links`)
      })
      after(async () => {
        await page?.close()
        await service?.stop()
      })

      for (const act of ACTS) {
        test(act.name, async (t) => {
          if (hasFailed) return t.skip('an earlier act has failed')
          hasFailed = true
          await person.begin()
          try {
            await act.run(person)
            await person.expectFocus()
            hasFailed = false
          } finally {
            if (PICTURES !== undefined && page !== undefined) {
              const file = `${act.name.replaceAll(/\W+/g, '-')}-${name}-${hand}.png`
              writeFileSync(path.join(PICTURES, file), await page.screenshot())
            }
          }
          t.diagnostic(`${person.presses} ${hand === 'keyboard' ? 'keys' : 'taps'}`)
        })
      }
    })
  }
}
