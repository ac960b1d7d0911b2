/** What an app's built-in browser says of itself; the parser takes it for the system's browser. */
const APPS: readonly (readonly [mark: string, name: string])[] = [
  ['Instagram ', 'Instagram'],
  ['FBAN/', 'Facebook'],
  ['FBAV/', 'Facebook'],
  ['musical_ly', 'TikTok'],
  ['BytedanceWebview', 'TikTok'],
  ['LinkedInApp', 'LinkedIn'],
  ['Snapchat/', 'Snapchat'],
  ['[Pinterest/', 'Pinterest'],
]

/** Television sets and game consoles, which the parser takes for tablets and computers. */
const SCREENS: readonly (readonly [mark: string, kind: 'tv' | 'console'])[] = [
  ['PlayStation', 'console'],
  ['Xbox', 'console'],
  ['Nintendo', 'console'],
  ['CrKey/', 'tv'],
  ['SMART-TV', 'tv'],
  ['SmartTV', 'tv'],
  ['Android TV', 'tv'],
  ['Google TV', 'tv'],
  ['GoogleTV', 'tv'],
  ['BRAVIA', 'tv'],
  // Amazon's television sticks, whose models all begin so.
  ['; AFT', 'tv'],
]

/** The app in whose built-in browser an agent is. */
export function appOf(agent: string): string | undefined {
  return APPS.find(([mark]) => agent.includes(mark))?.[1]
}

/** The kind of device, where it is one that stands before a sofa. */
export function screenOf(agent: string): string | undefined {
  return SCREENS.find(([mark]) => agent.includes(mark))?.[1]
}
