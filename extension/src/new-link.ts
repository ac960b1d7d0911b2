import { X } from 'lucide'
import { type Draft, passing } from './connection.ts'
import { button, field, make, note } from './elements.ts'
import { type Popup, pageBlock, type View } from './frame.ts'
import { linksHereView, linkView } from './link-views.ts'
import { destinationOf, proposeKey, withoutTracking } from './page.ts'
import type { KeyFault } from './service.ts'
import { text } from './texts.ts'

/** From the last key press to the check of the key. */
const CHECK_MS = 200
/** The limit of the service. */
const TAG_LENGTH_MAX = 50

/** The form of a new link to the page. */
export function newLinkView(popup: Popup): View {
  return new NewLinkForm(popup).view()
}

class NewLinkForm {
  readonly #popup: Popup
  readonly #form = make('form', { id: 'new-link', class: 'fields', novalidate: true })
  readonly #url = make('input', { id: 'url', class: 'in', type: 'url', placeholder: 'https://' })
  readonly #key = make('input', { id: 'key', autocomplete: 'off', spellcheck: 'false' })
  readonly #domain = make('select', { id: 'domain', class: 'in', 'aria-label': text('domain') })
  readonly #tracking = make('input', { id: 'tracking', class: 'cb', type: 'checkbox' })
  readonly #tags: TagInput
  readonly #fault = make('div')
  readonly #submit: HTMLButtonElement
  readonly #keyField
  readonly #urlField
  /** The idempotency key: it stays until the form changes, so a retry makes no second link. */
  #requestId = crypto.randomUUID()
  #checking: ReturnType<typeof setTimeout> | undefined

  constructor(popup: Popup) {
    this.#popup = popup
    this.#tags = new TagInput(popup, () => this.#touch())
    const label = text('createAndCopy')
    this.#submit = button(label, { look: 'ink', key: '↵', onClick: () => {} })
    this.#submit.type = 'submit'
    this.#submit.setAttribute('form', this.#form.id)
    const slash = make('span', { class: 'muted', 'aria-hidden': 'true' }, '/')
    const typed = make('div', { class: 'in' }, slash, this.#key)
    const frame = make('div', { class: 'in-join' }, this.#domain, typed)
    this.#keyField = field(text('shortLink'), this.#key, frame)
    this.#urlField = field(text('destination'), this.#url)
  }

  view(): View {
    const { page, facts } = this.#popup
    this.#key.placeholder = text('anyKey')
    this.#domain.append(...facts.domains.map((name) => make('option', { value: name }, name)))
    const shown = page.address === undefined ? this.#urlField.element : pageBlock(page)
    this.#form.append(shown, this.#keyField.element, this.#tags.element)
    const found = page.address === undefined ? [] : withoutTracking(page.address).found
    this.#tracking.checked = true
    if (found.length > 0) this.#form.append(trackingBox(this.#tracking, found))
    this.#form.append(this.#fault)
    this.#form.addEventListener('input', () => this.#touch())
    this.#key.addEventListener('input', () => this.#check(CHECK_MS))
    this.#domain.addEventListener('change', () => this.#check(0))
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#create()
    })
    void this.#begin()
    const more = button(text('more'), { onClick: () => void this.#openDashboard() })
    return {
      name: text('newLink'),
      body: [this.#form],
      foot: [this.#submit, more],
      focus: page.address === undefined ? this.#url : this.#key,
    }
  }

  /** Continues the draft of the page, or begins with a key from its title. */
  async #begin(): Promise<void> {
    const { page } = this.#popup
    if (page.address !== undefined) this.#key.value = proposeKey(page.title)
    this.#key.select()
    const draft = await passing.get('draft')
    // A draft of another page is kept until it is replaced, and says nothing about this one.
    const isOfPage = draft !== undefined && draft.address === (page.address ?? '')
    if (isOfPage) {
      this.#key.value = draft.key
      this.#tags.add(...draft.tags)
      this.#tracking.checked = !draft.keepsTracking
      if (this.#popup.facts.domains.includes(draft.domain)) this.#domain.value = draft.domain
    }
    this.#check(0, !isOfPage)
  }

  #touch(): void {
    this.#form.dataset.touched = 'yes'
    this.#requestId = crypto.randomUUID()
    void passing.set({ draft: this.#draft() })
  }

  #draft(): Draft {
    return {
      address: this.#popup.page.address ?? '',
      ...{ domain: this.#domain.value, key: this.#key.value.trim(), tags: this.#tags.values },
      keepsTracking: !this.#tracking.checked,
    }
  }

  /** @param isProposal whether the key gives way to a made-up one where it is not free */
  #check(afterMs: number, isProposal = false): void {
    clearTimeout(this.#checking)
    this.#keyField.say('', 'good')
    const key = this.#key.value.trim()
    const domain = this.#domain.value
    if (key === '' || domain === '') return
    this.#checking = setTimeout(async () => {
      const fault = await this.#popup.service.checkKey(domain, key).catch(() => 'unknown' as const)
      if (key !== this.#key.value.trim() || domain !== this.#domain.value) return
      if (fault === 'unknown') return
      if (fault !== undefined && isProposal) this.#key.value = ''
      else this.#sayKey(fault)
    }, afterMs)
  }

  #sayKey(fault: KeyFault): void {
    if (fault === undefined) this.#keyField.say(text('free'), 'good')
    else this.#keyField.say(text(KEY_FAULTS[fault]), 'bad')
  }

  #say(sentence: string): void {
    this.#fault.replaceChildren(...(sentence === '' ? [] : [note(sentence, 'bad')]))
  }

  #destination(): string | undefined {
    const { address } = this.#popup.page
    const wanted = address ?? destinationOf(this.#url.value)
    if (wanted === undefined || !this.#tracking.checked) return wanted
    return withoutTracking(wanted).address
  }

  async #create(): Promise<void> {
    const url = this.#destination()
    this.#urlField.say(url === undefined ? text('noDestination') : '', 'bad')
    if (url === undefined) return this.#url.focus()
    if (this.#submit.getAttribute('aria-busy') === 'true') return
    this.#submit.setAttribute('aria-busy', 'true')
    this.#say('')
    try {
      await this.#createOrShow(url)
    } catch (error) {
      await this.#explain(error)
    } finally {
      this.#submit.removeAttribute('aria-busy')
    }
  }

  async #createOrShow(url: string): Promise<void> {
    const popup = this.#popup
    const isTouched = this.#form.dataset.touched !== undefined
    const here = isTouched ? [] : await popup.linksHere
    // Enter was pressed before the service had returned them.
    if (here.length > 0) return popup.show(linksHereView(popup, here))
    const { domain, key, tags } = this.#draft()
    const link = await popup.service.createLink({ domain, key, url, tags }, this.#requestId)
    await passing.remove('draft')
    popup.show(linkView(popup, link, { isNew: true, copies: true }))
  }

  async #explain(error: unknown): Promise<void> {
    const faults = this.#popup.faultsOf(error)
    if (faults === undefined) return
    const { key, url, domain, tags, ...others } = faults.fields
    const draft = this.#draft()
    await passing.set({ draft })
    const rest = [faults.general, this.#popup.page.address === undefined ? undefined : url]
    this.#say([...rest, ...Object.values(others)].filter((one) => one !== undefined).join(' '))
    if (url !== undefined) this.#urlField.say(url, 'bad')
    if (domain !== undefined) this.#keyField.say(domain, 'bad')
    if (tags !== undefined) this.#tags.refuse(tags)
    if (key === undefined) return
    // The check returns a code, which has a text in the language of the browser.
    const reason = await this.#popup.service
      .checkKey(draft.domain, draft.key)
      .catch(() => undefined)
    this.#keyField.say(reason === undefined ? key : text(KEY_FAULTS[reason]), 'bad')
    this.#key.focus()
  }

  async #openDashboard(): Promise<void> {
    const { domain, key } = this.#draft()
    const url = this.#destination() ?? ''
    await chrome.tabs.create({ url: this.#popup.service.formPage({ url, key, domain }) })
    window.close()
  }
}

const KEY_FAULTS = {
  taken: 'keyTaken',
  reserved: 'keyReserved',
  invalid: 'keyInvalid',
  too_many_variants: 'keyTaken',
} as const satisfies Record<Exclude<KeyFault, undefined>, string>

function trackingBox(box: HTMLInputElement, found: readonly string[]): HTMLElement {
  const names = make('span', { class: 'hint' }, found.join(', '))
  const words = make('span', {}, text('removeTracking'), names)
  return make('label', { class: 'check' }, box, words)
}

/** A field of several tags: Enter or a comma adds one, Backspace in the empty field removes the last. */
class TagInput {
  readonly #field: ReturnType<typeof field>
  readonly #input = make('input', { id: 'tags', list: 'tag-names', placeholder: text('addTag') })
  readonly #names = make('datalist', { id: 'tag-names' })
  readonly #frame = make('div', { class: 'in taginput' }, this.#input)
  readonly #onChange: () => void
  #tags: string[] = []

  constructor({ service }: Popup, onChange: () => void) {
    this.#onChange = onChange
    this.#input.maxLength = TAG_LENGTH_MAX
    this.#field = field(text('tags'), this.#input, this.#frame)
    this.#field.element.append(this.#names)
    const suggest = async () => {
      const names = await service.tagNames().catch(() => [])
      this.#names.replaceChildren(...names.map((name) => make('option', { value: name })))
    }
    this.#input.addEventListener('focus', () => void suggest(), { once: true })
    this.#input.addEventListener('keydown', (event) => {
      const isEnd = event.key === 'Enter' || event.key === ','
      if (isEnd && this.#input.value.trim() !== '') {
        event.preventDefault()
        this.add(this.#input.value)
        onChange()
      } else if (event.key === 'Backspace' && this.#input.value === '') this.#remove(-1)
    })
  }

  get element(): HTMLElement {
    return this.#field.element
  }

  refuse(sentence: string): void {
    this.#field.say(sentence, 'bad')
    this.#input.focus()
  }

  /** With what is typed and not yet added. */
  get values(): readonly string[] {
    return [...new Set([...this.#tags, ...tagsIn(this.#input.value)])]
  }

  add(...tags: readonly string[]): void {
    this.#tags = [...new Set([...this.#tags, ...tags.flatMap(tagsIn)])]
    this.#input.value = ''
    this.#draw()
  }

  #remove(nth: number): void {
    this.#tags = this.#tags.toSpliced(nth, 1)
    this.#draw()
    this.#input.focus()
    this.#onChange()
  }

  #draw(): void {
    const shown = this.#tags.map((tag, nth) => {
      const name = text('removeTag', tag)
      const remove = button('', { look: 'icon', of: X, name, onClick: () => this.#remove(nth) })
      return make('span', { class: 'tag' }, tag, remove)
    })
    this.#frame.replaceChildren(...shown, this.#input)
  }
}

/** The tags of a text, as people paste them. */
function tagsIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}
