/** The periods of the figures of a link, in days; the first is the default. */
export const LINK_DAYS = ['30', '14', '90'] as const
export type LinkDays = (typeof LINK_DAYS)[number]

export const LINK_DAYS_PREFERENCE = 'link-days'

export function linkDaysOf(text: string | null): LinkDays {
  return LINK_DAYS.find((days) => days === text) ?? LINK_DAYS[0]
}

/** As the preference of this name has it. */
export function storedLinkDays(): LinkDays {
  try {
    return linkDaysOf(localStorage.getItem(`terse-${LINK_DAYS_PREFERENCE}`))
  } catch {
    return LINK_DAYS[0]
  }
}
