// What the browser keeps, read without React: by the script in the head, before the code of the dashboard has come.

/** What `Preference` keeps under a name; null where the browser keeps no storage for this site. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(`terse-${name}`)
  } catch {
    return null
  }
}

export const WORKSPACE_ITEM = 'terse-workspace'

/** The workspace that this tab showed last, or this browser. */
export function storedWorkspace(): string | undefined {
  try {
    return (
      sessionStorage.getItem(WORKSPACE_ITEM) ?? localStorage.getItem(WORKSPACE_ITEM) ?? undefined
    )
  } catch {
    return undefined
  }
}

/** The periods of the figures of a link, in days; the first is the default. */
export const LINK_DAYS = ['30', '14', '90'] as const
export type LinkDays = (typeof LINK_DAYS)[number]

export const LINK_DAYS_PREFERENCE = 'link-days'

export function linkDaysOf(text: string | null): LinkDays {
  return LINK_DAYS.find((days) => days === text) ?? LINK_DAYS[0]
}

export function storedLinkDays(): LinkDays {
  return linkDaysOf(stored(LINK_DAYS_PREFERENCE))
}
