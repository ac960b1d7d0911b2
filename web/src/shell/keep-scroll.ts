const NAME = 'terse-scroll'
/** What shows that a person has begun to use the page. */
const ACTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

type Place = { readonly href: string; readonly top: number }

/**
 * A reload keeps the scroll: once the page is as long again as it was. The router scrolls before the data of a page has
 * come, when it is short.
 */
export function keepScroll(): void {
  const place = takePlace()
  addEventListener('pagehide', () => storePlace({ href: location.href, top: scrollY }))
  if (place === undefined || place.href !== location.href || place.top === 0) return
  const page = document.documentElement
  const end = new AbortController()
  const stop = () => {
    observer.disconnect()
    end.abort()
  }
  const observer = new ResizeObserver(() => {
    if (location.href !== place.href) return stop()
    if (page.scrollHeight - innerHeight < place.top) return
    scrollTo(0, place.top)
    stop()
  })
  observer.observe(page)
  for (const act of ACTS) addEventListener(act, stop, { signal: end.signal, passive: true })
}

function takePlace(): Place | undefined {
  try {
    const text = sessionStorage.getItem(NAME)
    sessionStorage.removeItem(NAME)
    return text === null ? undefined : (JSON.parse(text) as Place)
  } catch {
    return undefined
  }
}

function storePlace(place: Place): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(place))
  } catch {
    // Without storage a reload begins at the top.
  }
}
