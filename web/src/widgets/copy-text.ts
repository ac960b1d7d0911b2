/**
 * Copies a text, and returns false where the browser refuses. To be called within the gesture, before anything is
 * awaited: WebKit allows no copy after a request. A text that a request answers is therefore given as a promise.
 *
 * @throws the error of the promise
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  const content = Promise.resolve(text)
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blobOf(content) })])
    return true
  } catch {
    return copyByCommand(await content)
  }
}

function blobOf(content: Promise<string>): Promise<Blob> {
  const blob = content.then((text) => new Blob([text], { type: 'text/plain' }))
  // The caller handles the failure of the content; a browser that has refused before no longer looks at it.
  blob.catch(() => {})
  return blob
}

/** The only way on pages over plain HTTP, which have no clipboard. */
function copyByCommand(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'sr'
  document.body.append(area)
  const focused = document.activeElement
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
