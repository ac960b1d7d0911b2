import type messages from '../_locales/en/messages.json'

/** The name of a text in `_locales`. */
export type TextName = keyof typeof messages

/** Returns a text in the language of the browser, with values in place of `$1` and so on. */
export function text(name: TextName, ...values: readonly (string | number)[]): string {
  return chrome.i18n.getMessage(name, values.map(String))
}

/** For dates and numbers: the region of the browser, where that is of the language of the texts. */
export function language(): string {
  const [own, browser] = [text('language'), chrome.i18n.getUILanguage()]
  return browser.startsWith(own) ? browser : own
}
