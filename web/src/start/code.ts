import { pageOf } from './pages.ts'
import { stored } from './theme.ts'

/** The files of each language and page, by name: the build writes them into the script's element. */
type Files = Readonly<Record<string, readonly string[]>>

/** Has the words and the code of the page loaded beside the code that asks for them. */
export function preloadCode(): void {
  const files: Files = JSON.parse(document.currentScript?.dataset['files'] ?? '{}')
  const names = [languageFile(files), ...(pageOf(location)?.code ?? [])]
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
