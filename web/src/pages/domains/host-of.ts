/** The host of a typed or pasted address; what is no address stays as it is, for the API to judge. */
export function hostOf(typed: string): string {
  const text = typed.trim()
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`
  const isAddress = /[:/?#@]/.test(text) && URL.canParse(url)
  return isAddress ? new URL(url).hostname : text
}
