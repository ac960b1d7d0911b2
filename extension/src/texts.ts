import type messages from '../_locales/en/messages.json'

/** The name of a text in `_locales`. */
export type TextName = keyof typeof messages

/** Returns a text in the language of the browser, with values in place of `$1` and so on. */
export function text(name: TextName, ...values: readonly (string | number)[]): string {
  return chrome.i18n.getMessage(name, values.map(String))
}

export function language(): string {
  return chrome.i18n.getUILanguage()
}
