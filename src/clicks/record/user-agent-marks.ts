/** Tokens of in-app browsers, which the parser reports as the system's browser. */
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

/** Tokens of televisions and game consoles, which the parser reports as tablets or desktops. */
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
  // The model names of Amazon Fire TV devices begin with AFT.
  ['; AFT', 'tv'],
]

/** Finds the app of an in-app browser. */
export function findApp(agent: string): string | undefined {
  return APPS.find(([mark]) => agent.includes(mark))?.[1]
}

/** Finds the device kind of a television or a game console. */
export function findScreen(agent: string): string | undefined {
  return SCREENS.find(([mark]) => agent.includes(mark))?.[1]
}
