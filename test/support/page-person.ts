import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import type { Key, PageDriver, Point } from './page-driver.ts'
import { INSTALL_SENSES } from './page-senses.ts'

export type Hand = 'keyboard' | 'touch'
/** A string is the whole name. */
type Name = string | RegExp
/** Of the element that is meant, and of the one that surrounds it; of each there must be only one. */
type What = readonly [role: string, name: Name, surroundings?: Surroundings]
type Surroundings = readonly [role: string, name: Name] | undefined

/** Ends a walk that leads nowhere: no page has so many stops. */
const STEPS_MAX = 200
/** Half of the smallest target of WCAG 2.2 (2.5.8), less what rounding takes. */
const FINGER_PX = 11
/** Safari on phones zooms into a field with smaller letters, and stays there. */
const LETTERS_PX_MIN = 16
const PATIENCE_MS = 60_000

/**
 * A person at a page, who has a keyboard or a touchscreen and nothing else, and knows only roles and names, what is
 * announced, and where the focus is.
 */
export class PagePerson {
  readonly hand: Hand
  readonly #page: PageDriver
  #presses = 0

  constructor(page: PageDriver, hand: Hand) {
    this.#page = page
    this.hand = hand
  }

  async open(url: string): Promise<void> {
    await this.#page.open(url)
    await this.#page.evaluate(INSTALL_SENSES)
  }

  /** Counts presses, and listens to announcements, from here on. */
  async begin(): Promise<void> {
    this.#presses = 0
    await this.#sense('forget')
  }

  /** Keys and taps since `begin`, without the letters of texts. */
  get presses(): number {
    return this.#presses
  }

  /** Presses a key that works wherever the focus is, with those that are held meanwhile before it. */
  async press(...keys: readonly Key[]): Promise<void> {
    this.#presses += 1
    await this.#page.press(...keys)
  }

  /** Activates a button, link or entry. */
  async use(...what: What): Promise<void> {
    await this.#reach(what)
    await this.#activate('Enter')
  }

  async check(name: Name, surroundings?: Surroundings): Promise<void> {
    await this.#reach(['checkbox', name, surroundings])
    await this.#activate('Space')
  }

  /** Replaces what is in a field. */
  async fill(role: 'textbox' | 'searchbox' | 'combobox', name: Name, text: string): Promise<void> {
    await this.#reach([role, name])
    if (this.hand === 'touch') {
      await this.#tap()
      const letters = Number(await this.#sense('letters'))
      assert.ok(letters >= LETTERS_PX_MIN, `phones zoom into letters of ${letters} px`)
    }
    await this.#page.press('Control', 'a')
    await this.#page.type(text)
    // Also what would take the focus away meanwhile is found here.
    await eventually(async () => assert.equal(await this.#sense('value'), text))
  }

  /** Chooses an option of a select: by a finger in a list of the system, outside the page, which sets the value. */
  async choose(name: Name, option: string): Promise<void> {
    await this.#reach(['combobox', name])
    if (this.hand === 'keyboard') await this.#page.type(option)
    else await this.#sense('setValue', option)
  }

  /** Waits until something is shown. */
  async see(...what: What): Promise<void> {
    await eventually(() => this.#sense('see', ...what), PATIENCE_MS)
  }

  /** Waits until a live region announces a text. */
  async hear(text: RegExp): Promise<void> {
    await eventually(async () => {
      const heard = (await this.#sense('heard')) as readonly string[]
      assert.ok(
        heard.some((one) => text.test(one)),
        `${text} is not in: ${heard.join(' | ')}`,
      )
    }, PATIENCE_MS)
  }

  /** Waits until something has the focus: what was acted on may have vanished. */
  async expectFocus(): Promise<void> {
    await eventually(async () => assert.ok(await this.#sense('hasFocus'), 'nothing has the focus'))
  }

  /** What the clipboard has, as a field shows it in which it is pasted. */
  async paste(): Promise<string> {
    await this.#sense('beginPaste')
    await this.#page.press('Control', 'v')
    return String(await this.#sense('endPaste'))
  }

  /** Brings the focus or the finger to something. */
  async #reach(what: What): Promise<void> {
    await eventually(() => this.#sense('aim', ...what), PATIENCE_MS)
    if (this.hand === 'touch') return
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const keys = (await this.#sense('nextKeys')) as readonly Key[] | null
      if (keys === null) return
      await this.press(...keys)
    }
    throw new Error(`no keys lead to ${what.join(' ')}`)
  }

  async #activate(key: Key): Promise<void> {
    if (this.hand === 'touch') return this.#tap()
    // What has the focus must be visible (WCAG 2.4.11).
    await this.#sense('middle', 0)
    await this.press(key)
  }

  async #tap(): Promise<void> {
    await this.#sense('scroll')
    const middle = (await this.#sense('middle', FINGER_PX)) as Point
    this.#presses += 1
    await this.#page.tap(middle)
  }

  #sense(name: string, ...parameters: readonly unknown[]): Promise<unknown> {
    return this.#page.evaluate(`senses.${name}(${parameters.map(literal).join(', ')})`)
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? 'undefined')
}
