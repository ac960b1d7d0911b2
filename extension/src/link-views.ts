import { Check, Copy, Download, ExternalLink, QrCode, Undo2 } from 'lucide'
import { copyText } from '../../web/src/widgets/copy-text.ts'
import { button, icon, make, note } from './elements.ts'
import { type Popup, pageBlock, type View } from './frame.ts'
import type { Link } from './service.ts'
import { language, text } from './texts.ts'

/** The popup closes this long after it has copied a link, unless the person uses it. */
const CLOSE_MS = 8_000

type LinkOptions = {
  /** Whether it was made just now, and can be undone. */
  readonly isNew: boolean
  /** Whether it is copied as it is shown. */
  readonly copies: boolean
}

/** One link: its QR code, copied. */
export function linkView(popup: Popup, link: Link, { isNew, copies }: LinkOptions): View {
  const { service } = popup
  const address = service.visitAddress(link)
  const said = make('div', { class: 'said', 'aria-live': 'polite' })
  const copy = async () => {
    const isCopied = await copyText(address)
    said.replaceChildren(isCopied ? copiedNote() : note(text('notCopied'), 'bad'))
    return isCopied
  }
  const again = button(text(copies ? 'copyAgain' : 'copy'), {
    ...{ look: 'ink', of: Copy, onClick: () => void copy() },
  })
  const code = make('div', { class: 'code' })
  void drawCode(popup, link, code)
  const refused = (error: unknown) => {
    const faults = popup.faultsOf(error)
    const [sentence = faults?.general] = Object.values(faults?.fields ?? {})
    if (sentence !== undefined) said.replaceChildren(note(sentence, 'bad'))
  }
  const acts = make('ul', { class: 'have acts' })
  const act = (label: string, of: Parameters<typeof icon>[0], run: () => Promise<void>) =>
    acts.append(
      make('li', {}, button(label, { look: 'row', of, onClick: () => void run().catch(refused) })),
    )
  act(text('saveQrCode'), Download, () => saveCode(popup, link))
  act(text('moreOptions'), ExternalLink, async () => {
    await chrome.tabs.create({ url: service.editPage(link) })
    window.close()
  })
  if (isNew && service.mayDelete) {
    act(text('undo'), Undo2, async () => {
      await service.deleteLink(link.id)
      popup.showNewLink()
    })
  }
  if (copies) void copy().then((isCopied) => isCopied && closeSoon())
  const done = button(text('done'), { key: 'esc', onClick: () => window.close() })
  return {
    name: text(isNew ? 'linkMade' : 'link'),
    body: [make('div', { class: 'made' }, code, shortLink(link), said), acts],
    foot: [again, done],
    focus: again,
  }
}

/** The links that lead to the page already, in place of a second one. */
export function linksHereView(popup: Popup, links: readonly Link[]): View {
  const { page } = popup
  const { label } = popup.facts
  const [first] = links
  const count = links.length === 1 ? text('oneLinkHere') : text('linksHere', links.length)
  const show = () => first && popup.show(linkView(popup, first, { isNew: false, copies: true }))
  const copy = button(text('copyKey', first?.key ?? ''), {
    ...{ look: 'ink', of: Copy, key: '↵', onClick: show },
  })
  const another = button(text('newLink'), {
    onClick() {
      popup.showNewLink()
      // An untouched form gives way to the links of the page.
      document.querySelector('form')?.setAttribute('data-touched', 'yes')
    },
  })
  return {
    name: text('linksOfPage'),
    body: [
      pageBlock(page),
      make('p', { class: 'lab' }, count),
      linkList(popup, links),
      ...(label === null ? [] : [labelHint(label)]),
    ],
    foot: [copy, another],
    focus: copy,
  }
}

/** The last ten links of the workspace. */
export async function lastLinksView(popup: Popup): Promise<View> {
  const back = button(text('newLink'), { onClick: () => popup.showNewLink() })
  const shown = { name: text('lastLinks'), foot: [back], focus: back }
  const title = make('p', { class: 'lab' }, text('lastLinks'))
  try {
    const links = await popup.service.lastLinks()
    const list = links.length > 0 ? linkList(popup, links) : note(text('noLinks'), 'hint')
    return { ...shown, body: [title, list] }
  } catch (error) {
    const said = popup.faultsOf(error)?.general ?? text('ended')
    return { ...shown, body: [title, note(said, 'bad')] }
  }
}

function linkList(popup: Popup, links: readonly Link[]): HTMLElement {
  const days = new Intl.DateTimeFormat(language(), { dateStyle: 'medium' })
  const amounts = new Intl.NumberFormat(language())
  const rows = links.map((link) => {
    const name = `${link.domain}/${link.key}`
    const open = () => popup.show(linkView(popup, link, { isNew: false, copies: false }))
    const copy: HTMLButtonElement = button('', {
      ...{ look: 'icon', of: Copy, name: text('copyLink', name) },
      async onClick() {
        if (!(await copyText(popup.service.visitAddress(link)))) return
        copy.replaceChildren(icon(Check))
        copy.classList.add('ok')
        copy.setAttribute('aria-label', text('copied'))
      },
    })
    const made = days.format(new Date(link.created_at))
    const shown = make('b', { class: 'cut', title: link.url })
    shown.append(make('span', { class: 'muted' }, `${link.domain}/`), link.key)
    const small = [made, ...link.tags].join(' · ')
    const about = make('span', { class: 'who' }, shown, make('small', { class: 'cut' }, small))
    const clicks = make('span', { class: 'num' }, amounts.format(link.clicks ?? 0))
    clicks.append(make('small', {}, text(link.clicks === 1 ? 'click' : 'clicks')))
    const details = text('showQrCode', name)
    const code = button('', { look: 'icon', of: QrCode, name: details, onClick: open })
    return make('li', {}, about, clicks, code, copy)
  })
  return make('ul', { class: 'have' }, ...rows)
}

function labelHint(parameter: string): HTMLElement {
  const example = make('span', { class: 'mono' }, `?${parameter}=…`)
  return make('p', { class: 'hint' }, text('labelHint'), ' ', example)
}

function shortLink({ domain, key }: Link): HTMLElement {
  return make('p', { class: 'short-l' }, make('span', {}, `${domain}/`), key)
}

function copiedNote(): HTMLElement {
  const said = note(text('copied'), 'good')
  said.prepend(icon(Check))
  return said
}

async function drawCode({ service }: Popup, link: Link, place: HTMLElement): Promise<void> {
  const picture = await service.qrCode(link.id, 'svg').catch(() => undefined)
  // The link works without it.
  if (picture === undefined) return place.remove()
  const alt = text('qrCodeOf', `${link.domain}/${link.key}`)
  place.append(make('img', { src: URL.createObjectURL(picture), alt }))
}

async function saveCode({ service }: Popup, link: Link): Promise<void> {
  const picture = await service.qrCode(link.id, 'png')
  const name = `${link.domain}-${link.key}.png`.replaceAll('/', '-')
  make('a', { href: URL.createObjectURL(picture), download: name }).click()
}

/** Closes the popup, unless the person moves or types meanwhile. */
function closeSoon(): void {
  const close = setTimeout(() => window.close(), CLOSE_MS)
  for (const sign of ['pointermove', 'keydown', 'pointerdown']) {
    document.addEventListener(sign, () => clearTimeout(close), { once: true })
  }
}
