const SHORT_LINK = /^(?:https?:\/\/)?([^/?#\s@]+)(?:\/([^?#]*))?(?:[?#].*)?$/i

/**
 * Returns the domain and the decoded key of a short link, with or without its scheme; undefined for any other text.
 */
export function parseShortLink(
  text: string,
): { readonly domain: string; readonly key: string } | undefined {
  const parts = SHORT_LINK.exec(text)
  const domain = parts?.[1] ?? ''
  if (!domain.includes('.') && !domain.includes(':') && !/^https?:/i.test(text)) return undefined
  if (domain === '') return undefined
  return { domain: domain.toLowerCase(), key: decode(parts?.[2] ?? '') }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
