import type { LinkResource } from '../../api/links.ts'
import { createSharedMenu } from '../../widgets/Menu.tsx'

/** The menu of the rows of links. */
export const linkMenu = createSharedMenu<LinkResource>()
