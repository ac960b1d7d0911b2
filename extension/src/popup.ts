import { type Connection, type Facts, passing, stored } from './connection.ts'
import { note } from './elements.ts'
import { type Page, Popup, showSignedOut } from './frame.ts'
import { lastLinksView, linksHereView, linkView } from './link-views.ts'
import { newLinkView } from './new-link.ts'
import { destinationOf, withoutTracking } from './page.ts'
import { Service } from './service.ts'
import { text } from './texts.ts'

const NO_FACTS: Facts = { workspace: null, domains: [], label: null }

async function readPage(): Promise<Page> {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true })
  return { address: destinationOf(tab?.url ?? ''), title: tab?.title ?? '' }
}

/** Makes a link to the page at once, or takes the one that leads there, and copies it. */
async function makeAtOnce(popup: Popup): Promise<void> {
  const { address } = popup.page
  const [domain] = popup.facts.domains
  if (address === undefined || domain === undefined) return popup.showNewLink()
  const wait = note(text('making'), 'hint')
  popup.show({ name: text('making'), body: [wait], foot: [] })
  try {
    const [link] = await popup.linksHere
    const url = withoutTracking(address).address
    const wanted = { domain, key: '', url, tags: [] }
    const made = link ?? (await popup.service.createLink(wanted, crypto.randomUUID()))
    popup.show(linkView(popup, made, { isNew: link === undefined, copies: true }))
  } catch (error) {
    const faults = popup.faultsOf(error)
    if (faults === undefined) return
    popup.showNewLink()
    const [sentence = faults.general] = Object.values(faults.fields)
    document.querySelector('main')?.append(note(sentence ?? '', 'bad'))
  }
}

async function readFacts(popup: Popup): Promise<void> {
  try {
    popup.facts = await popup.service.facts()
    await stored.set({ facts: popup.facts })
  } catch (error) {
    popup.faultsOf(error)
  }
}

async function open(connection: Connection, isAtOnce: boolean): Promise<void> {
  const [page, known] = await Promise.all([readPage(), stored.get('facts')])
  const popup = new Popup(new Service(connection), page, known ?? NO_FACTS, {
    newLink: newLinkView,
    lastLinks: lastLinksView,
  })
  const reading = readFacts(popup)
  // Without a domain there is no form: at the first opening it waits for the service.
  if (known === undefined) await reading
  if (popup.hasEnded) return
  if (isAtOnce) return makeAtOnce(popup)
  popup.showNewLink()
  const found = await popup.linksHere
  const isUntouched = document.querySelector('form:not([data-touched])') !== null
  if (found.length > 0 && isUntouched) popup.show(linksHereView(popup, found))
}

document.documentElement.lang = text('language')
const [connection, atOnce] = await Promise.all([stored.get('connection'), passing.get('atOnce')])
// It applies to this opening only, even if no link can be made.
if (atOnce) await passing.remove('atOnce')
await (connection === undefined ? showSignedOut() : open(connection, atOnce === true))
