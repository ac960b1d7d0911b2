/** The exports of links for other modules. The redirects load it, so it loads no store and no route. */
export { boundToLink } from './bound-to-link.ts'
export { foldKey, parseKey } from './key.ts'
export { UTM_FIELDS } from './link.ts'
export { hasQrMark, withoutQrMark } from './qr/qr-mark.ts'
export type { LinkDirectory, LinkHost, VisitedLink } from './store/link-directory.ts'
export { keyOfPath } from './visit-key.ts'
