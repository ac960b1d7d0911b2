import { useEffect } from 'react'

/** Forms that were sent and not changed since. Faults that appear while a person types take no focus. */
const sent = new WeakSet<HTMLFormElement>()
const reporting = new Set<HTMLFormElement>()
const region = document.createElement('div')
region.className = 'sr'
region.role = 'status'
region.ariaLive = 'polite'
document.body.prepend(region)

addEventListener('submit', ({ target }) => target instanceof HTMLFormElement && sent.add(target), {
  capture: true,
})
addEventListener('input', ({ target }) => {
  const form = target instanceof Element ? target.closest('form') : null
  if (form !== null) sent.delete(form)
})

type FaultCount = (fields: number) => string

/** Reports the faults of a form that was sent, when one of its fields becomes faulty. */
export function useFaultReport(id: string, isFaulty: boolean, count: FaultCount): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are no reason to report again
  useEffect(() => {
    if (!isFaulty) return
    const form = document.getElementById(id)?.closest('form')
    if (form && sent.has(form)) reportFaults(form, count)
  }, [id, isFaulty])
}

/** Focuses the first faulty field of a form once it is drawn, whose text is then read, and announces their number. */
export function reportFaults(form: HTMLFormElement, count: FaultCount): void {
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
