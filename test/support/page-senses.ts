import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Runs within the page: what a person perceives there. Roles and names are those that axe computes, the same in every
 * browser. What is hidden from screen readers is not there.
 */
const SENSES = `(() => {
  const LIVE = '[role="status"], [role="alert"], [role="log"], [aria-live="polite"], [aria-live="assertive"]'
  let heard = []
  let aim
  let aimed

  // A live region that comes with its text is not announced, except for an alert.
  new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      const place = target instanceof Element ? target : target.parentElement
      const region = place?.closest(LIVE)
      const alerts = [...addedNodes].filter((one) => one instanceof Element && one.matches('[role="alert"]'))
      for (const one of region ? [region] : alerts) heard.push(one.innerText)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })

  function find(role, name, root) {
    const { aria, dom, text } = axe.commons
    const isNamed = (found) => (name instanceof RegExp ? name.test(found) : found === name)
    return [...root.querySelectorAll('*')].filter(
      (one) =>
        aria.getRole(one) === role &&
        dom.isVisibleToScreenReaders(one) &&
        isNamed(text.accessibleText(one).trim()),
    )
  }

  function one(found, what) {
    if (found.length !== 1) throw new Error(found.length + ' of ' + what.join(' '))
    return found[0]
  }

  /** The only element with this role and name, within the only one with those of its surroundings. */
  function only(role, name, surroundings) {
    axe.setup(document.documentElement)
    try {
      const root = surroundings ? one(find(...surroundings, document), surroundings) : document
      return one(find(role, name, root), [role, name])
    } finally {
      axe.teardown()
    }
  }

  function hits(x, y) {
    const hit = document.elementFromPoint(x, y)
    return aimed.contains(hit) || hit?.closest('label')?.control === aimed
  }

  return {
    heard: () => heard,
    forget: () => void (heard = []),
    see: (...what) => void only(...what),
    /** Chooses the element that the next calls are about. */
    aim(...what) {
      aim = what
      aimed = only(...what)
    },
    /** The keys that bring the focus nearer to it; null when it has the focus. */
    nextKeys() {
      if (!aimed.isConnected) aimed = only(...aim)
      const active = document.activeElement
      const chosen = active.getAttribute('aria-activedescendant')
      if (active === aimed || (chosen !== null && chosen === aimed.id)) return null
      if (aimed.closest('[role="menu"], [role="listbox"]')) return ['ArrowDown']
      const isBefore = active.compareDocumentPosition(aimed) & Node.DOCUMENT_POSITION_PRECEDING
      const row = aimed.closest('tr')
      if (row?.contains(active)) return [isBefore ? 'ArrowLeft' : 'ArrowRight']
      return isBefore && active !== document.body ? ['Shift', 'Tab'] : ['Tab']
    },
    /** Scrolls to it, as a finger does. */
    scroll: () => aimed.scrollIntoView({ block: 'center' }),
    /** Its middle, if nothing covers it so far around. */
    middle(margin) {
      const { left, top, width, height } = aimed.getBoundingClientRect()
      const [x, y] = [left + width / 2, top + height / 2]
      for (const [dx, dy] of [[0, 0], [margin, 0], [-margin, 0], [0, margin], [0, -margin]]) {
        if (hits(x + dx, y + dy)) continue
        const other = document.elementFromPoint(x + dx, y + dy)
        throw new Error(aim.join(' ') + ' is covered or too small: ' + other?.outerHTML.slice(0, 200))
      }
      return { x, y }
    },
    letters: () => parseFloat(getComputedStyle(aimed).fontSize),
    value: () => aimed.value,
    setValue(option) {
      aimed.value = one([...aimed.options].filter(({ text }) => text === option), [option]).value
      aimed.dispatchEvent(new Event('change', { bubbles: true }))
    },
    hasFocus: () => document.activeElement !== document.body,
    beginPaste() {
      const area = document.createElement('textarea')
      area.id = 'pasted'
      area.before = document.activeElement
      // Else the page would scroll to it.
      area.style.position = 'fixed'
      document.body.append(area)
      area.focus()
    },
    endPaste() {
      const { value, before } = pasted
      pasted.remove()
      before.focus({ preventScroll: true })
      return value
    },
  }
})()`

/** Gives a page the object `senses`. */
export const INSTALL_SENSES = `(() => { ${AXE}; window.senses ??= ${SENSES} })()`
