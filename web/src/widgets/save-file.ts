/** Longer than a browser takes to read what it saves. */
const READ_MS = 60_000

/** Saves a file that the page has made. */
export function saveFile(file: Blob, name: string): void {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(file)
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), READ_MS)
}
