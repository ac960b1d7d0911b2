/** What floats over the page. */
const LAYERS = '.menu, .pal'

let openDialogs = 0
/** What had the focus last in the page itself. Base UI loses it where a dialog follows another. */
let opener: HTMLElement | undefined

addEventListener('focusin', ({ target }) => {
  if (openDialogs > 0 || !(target instanceof HTMLElement)) return
  if (target.closest(LAYERS) === null) opener = target
})

/** The effect of a dialog: at its end, what had the focus before all dialogs gets it back. */
export function returnFocusAtEnd(): () => void {
  openDialogs += 1
  return () => {
    openDialogs -= 1
    requestAnimationFrame(returnFocus)
  }
}

/** Gives the focus back, unless another dialog or the page itself has taken it. */
function returnFocus(): void {
  const active = document.activeElement
  const isLost = active === null || active === document.body || active.closest('.dlg') !== null
  if (openDialogs === 0 && isLost) opener?.focus({ preventScroll: true })
}
