import { type Connection, passing, stored } from './connection.ts'
import { button, field, make, note } from './elements.ts'
import { originPattern, parseService } from './page.ts'
import { ConnectionEnded, faultsOf, Service } from './service.ts'
import { beginSignIn, disconnect, issuerAt } from './sign-in.ts'
import { text } from './texts.ts'

const main = document.querySelector('main') ?? document.body

/** Shows the connection, or the form that makes one. */
async function show(): Promise<void> {
  const connection = await stored.get('connection')
  if (connection === undefined) return new ConnectForm().show()
  await showConnected(connection)
}

async function showConnected(connection: Connection): Promise<void> {
  const { host } = new URL(connection.origin)
  const way = connection.kind === 'token' ? text('byToken') : text('bySignIn')
  const about = make('p', { class: 'muted' }, way)
  const leave = button(text('disconnect'), {
    async onClick() {
      await disconnect()
      const origins = [originPattern(connection.origin)]
      await chrome.permissions.remove({ origins }).catch(() => false)
    },
  })
  const title = make('h1', {}, text('connected', host))
  main.replaceChildren(title, about, leave, make('p', { class: 'hint' }, text('shortcutHint')))
  try {
    const facts = await new Service(connection).facts()
    await stored.set({ facts })
    await stored.remove('endedAt')
    const { workspace } = facts
    if (workspace !== null) title.textContent = text('connectedTo', workspace, host)
    about.append(` ${text('ready')}`)
  } catch (error) {
    if (error instanceof ConnectionEnded)
      about.replaceChildren(note(text('endedHint', host), 'bad'))
    else about.after(note(faultsOf(error, text('unreachable', host)).general ?? '', 'bad'))
  }
}

/** The address of a service, and the two ways to connect to it. */
class ConnectForm {
  readonly #address = make('input', {
    ...{ id: 'address', class: 'in', type: 'text', inputmode: 'url', autocomplete: 'url' },
    placeholder: 'links.example.com',
  })
  readonly #token = make('input', {
    ...{ id: 'token', class: 'in', type: 'password', autocomplete: 'off' },
    placeholder: 'terse_…',
  })
  readonly #addressField = field(text('address'), this.#address)
  readonly #tokenField = field(text('token'), this.#token)
  readonly #said = make('div')

  async show(): Promise<void> {
    this.#address.value = (await stored.get('endedAt')) ?? ''
    this.#address.addEventListener('input', () => {
      const isPlain = parseService(this.#address.value)?.isPlain === true
      this.#addressField.say(isPlain ? text('plainAddress') : '', 'bad')
    })
    const hint = make('p', { class: 'hint' }, text('tokenHint'))
    const withToken = formOf(text('useToken'), 'plain', () => void this.#useToken())
    withToken.prepend(this.#tokenField.element, hint)
    const signIn = formOf(text('signIn'), 'ink', () => void this.#signIn())
    signIn.prepend(this.#addressField.element, this.#said)
    const summary = make('summary', { class: 'link' }, text('withToken'))
    main.replaceChildren(
      make('h1', {}, text('whichService')),
      make('p', { class: 'muted' }, text('whichServiceHint')),
      signIn,
      make('details', {}, summary, withToken),
    )
    this.#address.focus()
    await this.#explainSignIn()
  }

  /** Shows why the last sign-in failed. */
  async #explainSignIn(): Promise<void> {
    const fault = await passing.get('signInFault')
    if (fault === undefined) return
    await passing.remove('signInFault')
    const sentence = text(fault === 'denied' ? 'signInDenied' : 'signInFailed')
    this.#said.replaceChildren(note(sentence, 'bad'))
  }

  /** Requests the permission for the service, and returns its origin. Undefined after a refusal, which it shows. */
  async #reach(): Promise<string | undefined> {
    this.#said.replaceChildren()
    this.#tokenField.say('', 'good')
    const origin = parseService(this.#address.value)?.origin
    if (origin === undefined) return this.#refuse(text('noAddress'))
    // Nothing is awaited before it: browsers ask only while they handle a click.
    const isAllowed = await chrome.permissions.request({ origins: [originPattern(origin)] })
    if (!isAllowed) return this.#refuse(text('noPermission'))
    const issuer = await issuerAt(origin).catch(() => null)
    if (issuer === null) return this.#refuse(text('unreachable', new URL(origin).host))
    if (issuer === undefined) return this.#refuse(text('noTerse'))
    return issuer === origin ? origin : this.#refuse(text('otherAddress', issuer))
  }

  #refuse(sentence: string): undefined {
    this.#addressField.say(sentence, 'bad')
    this.#address.focus()
  }

  async #signIn(): Promise<void> {
    const origin = await this.#reach()
    if (origin !== undefined) location.assign(await beginSignIn(origin))
  }

  async #useToken(): Promise<void> {
    const token = this.#token.value.trim()
    if (token === '') return this.#tokenField.say(text('noToken'), 'bad')
    const origin = await this.#reach()
    if (origin === undefined) return
    const connection: Connection = { kind: 'token', origin, token }
    try {
      const facts = await new Service(connection).facts()
      await stored.set({ connection, facts })
    } catch (error) {
      if (error instanceof ConnectionEnded) return this.#tokenField.say(text('tokenRefused'), 'bad')
      const { general, fields } = faultsOf(error, text('unreachable', new URL(origin).host))
      this.#tokenField.say(general ?? Object.values(fields).join(' '), 'bad')
    }
  }
}

function formOf(label: string, look: 'ink' | 'plain', onSubmit: () => void): HTMLFormElement {
  const submit = button(label, { look, onClick: () => {} })
  submit.type = 'submit'
  const form = make('form', { class: 'fields', novalidate: true }, submit)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    onSubmit()
  })
  return form
}

document.documentElement.lang = text('language')
const licences = make('a', { class: 'hint', href: 'licences.txt' }, text('licences'))
document.querySelector('footer')?.append(licences)
document.title = `Terse · ${text('settings')}`
// A connection begins or ends here, in another tab, or in the popup.
chrome.storage.local.onChanged.addListener(({ connection }) => {
  if (connection === undefined) return
  const isRenewed = connection.oldValue !== undefined && connection.newValue !== undefined
  if (!isRenewed) void show()
})
await show()
