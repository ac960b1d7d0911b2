import type { IconNode } from '../icons/Icon.tsx'
import { AnalyticsIcon, DomainIcon, LinkIcon, SettingsIcon, TagIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'

type Place = {
  readonly to: '/links' | '/domains' | '/analytics' | '/tags' | '/settings'
  readonly icon: IconNode
  readonly name: (text: Catalogue) => string
}

/** The pages of the sidebar, the bottom bar and the palette, in their order. A page adds itself here. */
export const PLACES: readonly Place[] = [
  { to: '/links', icon: LinkIcon, name: (text) => text.shell.links },
  { to: '/analytics', icon: AnalyticsIcon, name: (text) => text.shell.analytics },
  { to: '/domains', icon: DomainIcon, name: (text) => text.shell.domains },
  { to: '/tags', icon: TagIcon, name: (text) => text.shell.tags },
  { to: '/settings', icon: SettingsIcon, name: (text) => text.shell.settings },
]

/** The bottom bar of phones has two places on each side of Create; the others are in its menu. */
export const BOTTOM_PLACES_MAX = 3
