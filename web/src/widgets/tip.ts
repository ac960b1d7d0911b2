/**
 * The attributes of an element that shows a text on hover and focus, which `Tips` does. The text repeats the
 * accessible name, or adds to what is visible.
 */
export function tip(text: string, shortcut?: string) {
  return { 'data-tip': text, ...(shortcut !== undefined && { 'data-tip-key': shortcut }) }
}
