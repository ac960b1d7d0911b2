import { stored } from '../state/stored.ts'
import type { FirstPage } from './pages.ts'

/** The files of each language and page, by name: the build writes them into the script's element. */
type Files = Readonly<Record<string, readonly string[]>>

/**
 * How long the code of the dashboard waits for the first requests. A service takes as long only when it has much to
 * do, or is down.
 */
const WAIT_MS = 300

/** Preloads the texts and the code of the page together with the dashboard's code, which will import them. */
export function preloadCode(page: FirstPage | undefined): void {
  const files: Files = JSON.parse(document.currentScript?.dataset['files'] ?? '{}')
  const names = [languageFile(files), ...(page?.code ?? [])]
  for (const file of new Set(names.flatMap((name) => files[name] ?? []))) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = file
    document.head.append(link)
  }
}

/** The language that `text/language.ts` will choose. */
function languageFile(files: Files): string {
  const wanted = [stored('language') ?? '', ...navigator.languages]
  const names = wanted.map((tag) => `text/${tag.split('-', 1)[0]}.ts`)
  return names.find((name) => name in files) ?? 'text/en.ts'
}

/**
 * Runs the code of the dashboard once the first data is requested: it keeps a slow phone busy for some 200 ms, during
 * which the answer that names the workspace, and so the next request, would have to wait. In development the page loads
 * the code itself.
 */
export function runCode(requested: Promise<unknown>): void {
  const main = document.currentScript?.dataset['main']
  if (main === undefined) return
  const waited = new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  const script = document.createElement('script')
  script.type = 'module'
  script.crossOrigin = ''
  script.src = main
  const begun = Promise.race([requested.catch(() => {}), waited])
  const ready = whenParsed().then(whenStyled)
  Promise.all([begun, ready]).then(() => document.head.append(script))
}

function whenParsed(): Promise<unknown> {
  if (document.readyState !== 'loading') return Promise.resolve()
  return new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
}

/** A script added by a script does not wait for styles, without which a focused field would scroll the page. */
function whenStyled(): Promise<unknown> {
  const sheets = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')
  return Promise.all([...sheets].map(loaded))
}

function loaded(link: HTMLLinkElement): Promise<unknown> {
  if (link.sheet !== null) return Promise.resolve()
  return new Promise((resolve) => {
    link.addEventListener('load', resolve)
    link.addEventListener('error', resolve)
  })
}
