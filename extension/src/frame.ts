import { History, Settings2 } from 'lucide'
import { type Facts, forgetConnection, stored } from './connection.ts'
import { button, make, note } from './elements.ts'
import { originPattern, shownAddress, withoutTracking } from './page.ts'
import { ConnectionEnded, faultsOf, type Link, type Service } from './service.ts'
import { beginSignIn } from './sign-in.ts'
import { text } from './texts.ts'

/** The page of the tab. Pages of the browser itself have no address. */
export type Page = { readonly address: string | undefined; readonly title: string }

/** What the popup shows below its head. */
export type View = {
  readonly name: string
  /** Whether the name is visible. Otherwise only screen readers read it. */
  readonly isTitled?: boolean
  readonly body: readonly Node[]
  readonly foot: readonly Node[]
  /** Gets the focus, so that Enter does what is most likely meant. */
  readonly focus?: HTMLElement | undefined
}

/** The views that every other view can open. */
type Views = {
  newLink(popup: Popup): View
  lastLinks(popup: Popup): Promise<View>
}

/** The popup of one page: what its views share. */
export class Popup {
  readonly service: Service
  readonly page: Page
  /** Links that lead to the page already. Empty if the service cannot be reached. */
  readonly linksHere: Promise<readonly Link[]>
  facts: Facts
  /** Whether the connection has ended. The popup shows that, and no other view. */
  hasEnded = false
  readonly #views: Views

  constructor(service: Service, page: Page, facts: Facts, views: Views) {
    this.#views = views
    this.service = service
    this.page = page
    this.facts = facts
    this.linksHere = this.#findLinksHere()
  }

  #findLinksHere(): Promise<readonly Link[]> {
    const { address } = this.page
    if (address === undefined) return Promise.resolve([])
    const addresses = new Set([withoutTracking(address).address, address])
    return this.service.findLinks([...addresses]).catch((error) => {
      if (error instanceof ConnectionEnded) void this.end()
      return []
    })
  }

  show(view: View): void {
    if (this.hasEnded) return
    const settings = () => void chrome.runtime.openOptionsPage()
    const last = () => void this.#views.lastLinks(this).then((next) => this.show(next))
    const { workspace } = this.facts
    render(view, [
      ...(workspace === null ? [] : [make('span', { class: 'ws cut' }, workspace)]),
      button('', { look: 'icon', of: History, name: text('lastLinks'), onClick: last }),
      button('', { look: 'icon', of: Settings2, name: text('settings'), onClick: settings }),
    ])
  }

  showNewLink(): void {
    this.show(this.#views.newLink(this))
  }

  /** Returns what is wrong; undefined if the connection has ended, which the popup then shows. */
  faultsOf(error: unknown) {
    if (error instanceof ConnectionEnded) {
      void this.end()
      return undefined
    }
    return faultsOf(error, text('unreachable', new URL(this.service.origin).host))
  }

  /** Forgets the connection, and shows that it has ended. */
  async end(): Promise<void> {
    this.hasEnded = true
    await forgetConnection(this.service.origin)
    await showSignedOut()
  }
}

function render({ name, isTitled, body, foot, focus }: View, head: readonly Node[]): void {
  const brand = document.querySelectorAll('header > .brand')
  document.querySelector('header')?.replaceChildren(...brand, ...head)
  const main = document.querySelector('main')
  main?.replaceChildren(make('h1', { class: isTitled ? '' : 'sr' }, name), ...body)
  document.querySelector('footer')?.replaceChildren(...foot)
  focus?.focus()
}

/** Shows that nothing is connected, or that the last connection has ended, with a button to sign in. */
export async function showSignedOut(): Promise<void> {
  const endedAt = await stored.get('endedAt')
  const open = () => void chrome.runtime.openOptionsPage()
  const again = async (origin: string) => {
    // Without the permission the extension could not read the answer page. The settings ask for it.
    if (!(await chrome.permissions.contains({ origins: [originPattern(origin)] }))) return open()
    await chrome.tabs.create({ url: await beginSignIn(origin) })
    window.close()
  }
  const signIn =
    endedAt === undefined
      ? button(text('setUp'), { look: 'ink', onClick: open })
      : button(text('signInAgain'), { look: 'ink', onClick: () => void again(endedAt) })
  const host = endedAt === undefined ? '' : new URL(endedAt).host
  const view = {
    name: text(endedAt === undefined ? 'signedOut' : 'ended'),
    isTitled: true,
    body: [note(endedAt === undefined ? text('signedOutHint') : text('endedHint', host), 'hint')],
    foot: [signIn, ...(endedAt === undefined ? [] : [button(text('settings'), { onClick: open })])],
    focus: signIn,
  }
  render(view, [])
}

/** The page of the tab, as people know it. */
export function pageBlock({
  address = '',
  title,
}: {
  address?: string | undefined
  title: string
}) {
  const shown = shownAddress(address)
  return make(
    'div',
    { class: 'tab-of' },
    make('span', { class: 'fav', 'aria-hidden': 'true' }, shown.slice(0, 1).toUpperCase()),
    make('b', { class: 'cut' }, title || shown),
    make('span', { class: 'u cut', title: address }, shown),
  )
}
