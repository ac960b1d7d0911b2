// The script of the API reference, which is readable without it: it sets the theme, opens the entry of an address,
// filters the operations, and copies calls.
import { stored } from '../state/stored.ts'
import { copyText } from '../widgets/copy-text.ts'

const COPIED_MS = 1_500

const theme = stored('theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme

document.addEventListener('DOMContentLoaded', () => {
  addFilter()
  for (const caption of document.querySelectorAll<HTMLElement>('.calls figcaption')) {
    addCopyButton(caption)
  }
  // Last: what is added above moves the entries.
  revealTarget()
})
window.addEventListener('hashchange', revealTarget)

/** Opens the entry that the address names: not every browser does it by itself. */
function revealTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const entry = target?.closest('details')
  if (!target || !entry || entry.open) return
  entry.open = true
  target.scrollIntoView()
}

function addFilter(): void {
  const field = document.createElement('input')
  field.type = 'search'
  field.placeholder = 'Filter by name or path'
  field.setAttribute('aria-label', 'Filter by name or path')
  document.querySelector('nav')?.prepend(field)
  const sections = [...document.querySelectorAll('main > section:not(.intro)')].map((section) => ({
    section,
    entries: [...section.querySelectorAll('details')].map((entry) => ({
      entry,
      text: `${entry.firstElementChild?.textContent} ${entry.lastElementChild?.id}`.toLowerCase(),
    })),
  }))
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/)
    for (const { section, entries } of sections) {
      const shown = entries.filter(({ entry, text }) => {
        const isShown = words.every((word) => text.includes(word))
        entry.hidden = !isShown
        return isShown
      })
      ;(section as HTMLElement).hidden = shown.length === 0
    }
  })
}

function addCopyButton(caption: HTMLElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy: ${caption.textContent}`)
  button.addEventListener('click', async () => {
    const code = caption.parentElement?.querySelector('pre')?.textContent ?? ''
    button.textContent = (await copyText(code)) ? 'Copied' : 'Not copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, COPIED_MS)
  })
  caption.append(button)
}
