type Forms = { readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

const rules = new Map<string, Intl.PluralRules>()

/** Chooses the form of a noun for an amount by the rules of a language. */
export function plural(language: string, amount: number, forms: Forms): string {
  let rule = rules.get(language)
  if (rule === undefined) {
    rule = new Intl.PluralRules(language)
    rules.set(language, rule)
  }
  return forms[rule.select(amount)] ?? forms.other
}

/** How texts of a language write amounts. */
export function amountsIn(language: string) {
  const n = (amount: number) => amount.toLocaleString(language)
  const count = (one: string, other: string) => (amount: number) =>
    `${n(amount)} ${plural(language, amount, { one, other })}`
  return { n, count }
}
