const taken = new Map<string, string>()

/**
 * The code of a set-up, invitation or reset link, which is behind `#` so that no server sees it. It is taken
 * out of the address bar, and so out of the history.
 */
export function takeLinkCode(): string | undefined {
  const { pathname, hash, search } = location
  const code = codeOf(hash)
  if (code !== undefined) {
    taken.set(pathname, code)
    history.replaceState(history.state, '', pathname + search)
  }
  return taken.get(pathname)
}

/** The code of a pasted text, which may be the whole link. */
export function codeOf(text: string): string | undefined {
  return /[#&]code=([\w-]+)/.exec(text)?.[1]
}
