/** Binds a sealed password to its link, whatever becomes of the link's key and domain. */
export function boundToLink(linkId: string): string {
  return `link ${linkId}`
}
