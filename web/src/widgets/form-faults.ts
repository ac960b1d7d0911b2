import { useEffect } from 'react'

/** Forms that were sent and not changed since. Faults that appear while a person types take no focus. */
const sent = new WeakSet<HTMLFormElement>()
const reporting = new Set<HTMLFormElement>()
const region = document.createElement('div')
region.className = 'sr'
region.role = 'status'
region.ariaLive = 'polite'
document.body.prepend(region)

addEventListener(
  'submit',
  ({ target }) => {
    if (target instanceof HTMLFormElement) sent.add(target)
  },
  { capture: true },
)
addEventListener('input', ({ target }) => {
  const form = target instanceof Element ? target.closest('form') : null
  if (form !== null) sent.delete(form)
})

type FaultCount = (fields: number) => string

/** The words of the last field, in the language that is shown. */
let words: FaultCount | undefined

/** Reports the faults of a form that was sent, when one of its fields becomes faulty; `id` is of an element within it. */
export function useFaultReport(id: string, isFaulty: boolean, count: FaultCount): void {
  useEffect(() => {
    words = count
  }, [count])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are no reason to report again
  useEffect(() => {
    if (!isFaulty) return
    const form = document.getElementById(id)?.closest('form')
    if (form && sent.has(form)) reportFaults(form, count)
  }, [id, isFaulty])
}

/** For a form that finds faults by itself, and may show them already: then no field becomes faulty. */
export function noteSent(form: HTMLFormElement): void {
  sent.add(form)
  if (words !== undefined) reportFaults(form, words)
}

/** Focuses the first faulty field of a form once it is drawn, whose text is then read, and announces their number. */
function reportFaults(form: HTMLFormElement, count: FaultCount): void {
  if (reporting.has(form)) return
  reporting.add(form)
  region.textContent = ''
  requestAnimationFrame(() => {
    reporting.delete(form)
    const faulty = form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')
    if (faulty.length === 0) return
    faulty[0]?.focus()
    region.textContent = count(faulty.length)
  })
}
