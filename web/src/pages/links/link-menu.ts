import type { LinkResource } from '../../api/links.ts'
import { Observable } from '../../state/observable.ts'
import type { Opening } from '../../widgets/menu-parts.ts'

type LinkMenuOpening = Opening & { readonly link: LinkResource; readonly rowIndex: number }

/** The menu of the rows of links: of which link it was opened, in which row. */
export const linkMenu = new Observable<LinkMenuOpening | undefined>(undefined)
