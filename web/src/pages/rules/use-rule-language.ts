import { useMemo } from 'react'
import { useObservable } from '../../state/observable.ts'
import { text } from '../../text/language.ts'
import { type RuleLanguage, ruleLanguage } from './rule-words.ts'

/** How rules are written in the language that is shown. */
export function useRuleLanguage(): RuleLanguage {
  const language = useObservable(text)?.language ?? 'en'
  return useMemo(() => ruleLanguage(language), [language])
}
