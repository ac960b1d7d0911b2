import type { LinkResource } from '../../api/links.ts'
import { Observable } from '../../state/observable.ts'
import type { Opening } from '../../widgets/menu-parts.ts'

/** The menu of the rows of links: of which link it was opened. */
export const linkMenu = new Observable<(Opening & { readonly link: LinkResource }) | undefined>(
  undefined,
)
