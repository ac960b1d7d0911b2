import type { Link } from './link.ts'
import { QR_MARK } from './qr/qr-mark.ts'

/** A QR code of error correction level M holds at most 2,331 bytes (ISO/IEC 18004). */
const QR_BYTES_MAX = 2_331

/** Returns the short link that people share. */
export function shortLink(link: Pick<Link, 'domain' | 'key'>): string {
  return `https://${link.domain}/${link.key}`
}

/**
 * Returns an address for a QR code: percent-encoded, because not every scanner reads UTF-8, unless the encoded form, up
 * to three times as long, exceeds the capacity of a code.
 *
 * @param tracked whether to add the mark that gives these visits the source `qr`
 */
export function scannableAddress(address: string, tracked: boolean): string {
  const marked = tracked ? `${address}?${QR_MARK}` : address
  const encoded = encodeURI(marked)
  return encoded.length <= QR_BYTES_MAX ? encoded : marked
}
