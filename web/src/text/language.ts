import { Observable } from '../state/observable.ts'
import { oneOf, Preference } from '../state/preference.ts'
import type { Catalogue } from './en.ts'

/** A third language is one file beside `de.ts`, and a line in each of these. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
const LOADERS: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
}

type Language = keyof typeof LANGUAGES
export type LanguageChoice = Language | 'system'

export const LANGUAGE_CHOICES = ['system', 'en', 'de'] as const satisfies readonly LanguageChoice[]

export const languageChoice = new Preference<LanguageChoice>('language', oneOf(...LANGUAGE_CHOICES))

/** Each language as its speakers call it. */
export function languageName(choice: LanguageChoice, { shell }: Catalogue): string {
  return choice === 'system' ? shell.languageSystem : LANGUAGES[choice]
}

export type Text = { readonly language: Language; readonly catalogue: Catalogue }

/** Undefined until `loadText` has ended for the first time. */
export const text = new Observable<Text | undefined>(undefined)

/** Loads the words of the chosen language, and shows them. */
export async function loadText(): Promise<void> {
  const language = chosenLanguage()
  const catalogue = await LOADERS[language]()
  text.set({ language, catalogue })
  document.documentElement.lang = language
}

export function setLanguage(choice: LanguageChoice): void {
  languageChoice.set(choice === 'system' ? null : choice)
}

function chosenLanguage(): Language {
  if (languageChoice.value !== 'system') return languageChoice.value
  const wanted = navigator.languages.map((tag) => tag.split('-', 1)[0] ?? '')
  return wanted.find((tag): tag is Language => tag in LANGUAGES) ?? 'en'
}

languageChoice.subscribe(() => void loadText())
