import { useMemo } from 'react'
import { useObservable } from '../state/observable.ts'
import type { Catalogue } from './en.ts'
import { type Formats, formatsOf } from './formats.ts'
import { text } from './language.ts'

/** The words of the language that is shown. */
export function useText(): Catalogue {
  return loaded(useObservable(text)).catalogue
}

/** Numbers, dates and lists in the language that is shown. */
export function useFormats(): Formats {
  const { language } = loaded(useObservable(text))
  return useMemo(() => formatsOf(language), [language])
}

function loaded<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the page was shown before its words were loaded')
  return value
}
