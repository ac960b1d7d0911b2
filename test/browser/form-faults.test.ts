import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { inDashboard } from '../support/dashboard.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createLink } from '../support/links.ts'
import { skipWithout } from '../support/programs.ts'
import { type Service, startService } from '../support/service.ts'

type Form = {
  readonly path: string
  /** Whether the page needs a link with a tag; the first forms need that there is no link. */
  readonly needsTag?: true
  /** Buttons that lead to the form. */
  readonly open?: readonly string[]
  /** The fields that the API refuses; none where the form itself finds the fault. */
  readonly refused: readonly string[]
  /** What is typed by label; other required fields get a text of their kind. */
  readonly typed?: Readonly<Record<string, string>>
  /** The button that sends it, where it is not in the form. */
  readonly send?: string
  /** As many faults are announced. */
  readonly faults?: number
}

const FORMS: Readonly<Record<string, Form>> = {
  'a first link': { path: '/first-link', refused: [], typed: { 'Paste a long URL': '!' } },
  'the first link of the list': { path: '/links', refused: [], typed: { Destination: '!' } },
  'the name of the workspace': {
    path: '/settings/general',
    refused: ['name'],
    typed: { Name: 'other' },
  },
  'the profile': { path: '/settings/profile', refused: ['name'], typed: { Name: 'Other' } },
  'a new password': { path: '/settings/security', refused: ['password'] },
  'a new workspace': {
    path: '/settings/workspaces',
    open: ['Create workspace'],
    refused: ['title'],
  },
  'an invitation': {
    path: '/settings/members',
    open: ['Invite'],
    refused: ['email', 'role'],
    faults: 2,
  },
  'a token': {
    path: '/settings/connect',
    open: ['Create token'],
    refused: ['scopes', 'expires_at'],
    faults: 2,
  },
  'a domain': {
    path: '/domains',
    open: ['Add domain'],
    refused: ['domain'],
    typed: { 'Host name': 'go.acme.example' },
  },
  'the name of a tag': {
    path: '/tags',
    needsTag: true,
    open: ['Actions for print', 'Rename'],
    refused: ['name'],
    typed: { 'New name': 'other' },
  },
  'a UTM template': {
    path: '/tags/utm-templates',
    open: ['New template'],
    refused: ['utm_source', 'utm_medium'],
    typed: { 'Template name': 'Autumn' },
    faults: 2,
  },
  'a link': {
    path: '/links/new',
    refused: ['url'],
    typed: { Destination: 'https://e.example/' },
    send: 'Create link',
  },
}

// Storage plays no part here: one engine is enough.
describe('a form of the dashboard that is refused', { skip: skipWithout('chromium') }, () => {
  let browser: Browser
  let service: Service
  before(async () => {
    browser = await launchChromium()
    service = await startService(SQLITE)
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  for (const [name, form] of Object.entries(FORMS)) {
    test(`focuses the first field and announces the number of faults: ${name}`, async () => {
      if (form.needsTag) await createLink(await service.api(), { tags: ['print'] })
      await inDashboard(browser, service, form.path, async (page, { faults }) => {
        await refuse(page, form.refused)
        for (const opener of form.open ?? []) await button(page, opener).click()
        const shown = await fill(page, form)
        // The second time, nothing changes on the page but what the form does by itself.
        for (const _ of ['first', 'again']) {
          const submit = shown.locator('button[type="submit"]').last()
          await (form.send === undefined ? submit : button(page, form.send)).click()
          await expectReport(page, form.faults ?? 1)
          await clearReport(page)
        }
        // The browser reports the refusals.
        faults.splice(0)
      })
    })
  }
})

/** Answers each change with faults of these fields. */
async function refuse(page: Page, fields: readonly string[]): Promise<void> {
  if (fields.length === 0) return
  const message = 'must be another'
  const of = (fault: unknown) => Object.fromEntries(fields.map((field) => [field, [fault]]))
  const json = {
    code: 'validation_failed',
    message: 'The request is invalid.',
    errors: of(message),
    faults: of({ code: 'invalid', message }),
  }
  await page.route('**/api/v1/**', (route) =>
    route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 422, json }),
  )
}

function button(page: Page, name: string): Locator {
  const named = { name, exact: true }
  return page.getByRole('button', named).or(page.getByRole('menuitem', named)).first()
}

/** Returns the form. */
async function fill(page: Page, { open, typed = {} }: Form): Promise<Locator> {
  const within = open === undefined ? page.locator('main') : page.getByRole('dialog')
  const form = within.locator('form').first()
  await form.waitFor()
  for (const [label, text] of Object.entries(typed)) {
    await form.getByLabel(label, { exact: true }).fill(text)
  }
  for (const field of await form.locator('input[required]').all()) {
    if ((await field.inputValue()) !== '') continue
    const type = await field.getAttribute('type')
    await field.fill(type === 'email' ? 'x@acme.example' : 'a long enough text')
  }
  return form
}

async function expectReport(page: Page, faults: number): Promise<void> {
  const text = faults === 1 ? '1 field has an error' : `${faults} fields have an error`
  const report = page.getByRole('status').getByText(text, { exact: true })
  await eventually(async () => {
    const focused = page.locator(':focus')
    assert.equal(await focused.getAttribute('aria-invalid'), 'true')
    const invalid = page.locator('[aria-invalid="true"]')
    assert.equal(await invalid.count(), faults)
    assert.equal(
      await invalid.first().evaluate((element) => element === element.ownerDocument.activeElement),
      true,
    )
    // A dialog hides the rest of the page from screen readers.
    assert.equal(await report.count(), 1)
  })
}

async function clearReport(page: Page): Promise<void> {
  await page.evaluate(`
    document.activeElement.blur()
    for (const each of document.querySelectorAll('body > [role="status"]')) each.textContent = ''
  `)
}
