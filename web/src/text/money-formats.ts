import { once, regional } from './formats.ts'

/** How amounts are written, which are whole numbers of minor units. */
export type MoneyFormats = {
  /** `86,412.50` of 8641250 EUR; `500` of 500 JPY. */
  amount(minor: number, currency: string): string
  /** `86.4k`, for axes. */
  short(minor: number, currency: string): string
  /** `Euro`; the code of one that is not known. */
  name(currency: string): string
}

const cache = new Map<string, MoneyFormats>()

export function moneyFormatsOf(language: string): MoneyFormats {
  const known = cache.get(language)
  if (known !== undefined) return known
  const locale = regional(language)
  const names = once(() => new Intl.DisplayNames(language, { type: 'currency' }))
  const shorts = once(
    () => new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 }),
  )
  const amounts = new Map<number, Intl.NumberFormat>()
  function amountsOf(decimals: number): Intl.NumberFormat {
    const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
    const format = amounts.get(decimals) ?? new Intl.NumberFormat(locale, options)
    amounts.set(decimals, format)
    return format
  }
  const formats: MoneyFormats = {
    amount(minor, currency) {
      const decimals = decimalsOf(currency)
      return amountsOf(decimals).format(minor / 10 ** decimals)
    },
    short: (minor, currency) => shorts().format(minor / 10 ** decimalsOf(currency)),
    name: (currency) => names().of(currency) ?? currency,
  }
  cache.set(language, formats)
  return formats
}

const decimalsByCurrency = new Map<string, number>()

/** The decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD; 2 for a code that is not known. */
function decimalsOf(currency: string): number {
  const known = decimalsByCurrency.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const found = format.resolvedOptions().maximumFractionDigits ?? 2
  decimalsByCurrency.set(currency, found)
  return found
}
