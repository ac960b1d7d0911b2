import { useObservable } from '../state/observable.ts'
import { text } from './language.ts'
import { type MoneyFormats, moneyFormatsOf } from './money-formats.ts'

/** How the chosen language writes amounts. */
export function useMoneyFormats(): MoneyFormats {
  return moneyFormatsOf(useObservable(text)?.language ?? 'en')
}
