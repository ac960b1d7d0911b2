import type { Link } from './link.ts'
import { QR_MARK } from './qr/qr-mark.ts'

/** A QR code of error correction level M holds at most 2,331 bytes (ISO/IEC 18004). */
const QR_BYTES_MAX = 2_331

/** The address of a link as people share it. */
export function shortLink(link: Pick<Link, 'domain' | 'key'>): string {
  return `https://${link.domain}/${link.key}`
}

/**
 * The same as a scanner needs it: percent-encoded, because not every scanner reads UTF-8; as it is
 * where the encoded form, up to three times as long, is more than a code can hold.
 *
 * @param tracked whether visits by it are to be told apart from others
 */
export function scannableLink(link: Pick<Link, 'domain' | 'key'>, tracked: boolean): string {
  const address = tracked ? `${shortLink(link)}?${QR_MARK}` : shortLink(link)
  const encoded = encodeURI(address)
  return encoded.length <= QR_BYTES_MAX ? encoded : address
}
