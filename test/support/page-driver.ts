/** One page of one browser, as a person reaches it: keys, a finger, and what is shown. */
export type PageDriver = {
  open(url: string): Promise<void>
  /** Returns the value of an expression within the page, awaited, as JSON keeps it. */
  evaluate(expression: string): Promise<unknown>
  /** Presses one key, with those that are held meanwhile before it: `['Control', 'v']`. */
  press(...keys: readonly Key[]): Promise<void>
  type(text: string): Promise<void>
  tap(point: Point): Promise<void>
  /** A picture in PNG. */
  screenshot(): Promise<Buffer>
  close(): Promise<void>
}

export type PageOptions = {
  readonly width: number
  readonly height: number
  /** Whether the device has a touchscreen in place of a mouse. */
  readonly isTouched: boolean
}

/** Relative to the viewport, in CSS pixels. */
export type Point = { readonly x: number; readonly y: number }

/** The keys that are not characters, by the code points that WebDriver has for them. */
const CODES = {
  Backspace: '\uE003',
  Tab: '\uE004',
  Enter: '\uE007',
  Shift: '\uE008',
  Control: '\uE009',
  Escape: '\uE00C',
  Space: '\uE00D',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
} as const

export type Key = keyof typeof CODES | 'a' | 'c' | 'k' | 'v' | '/'

/** The input of WebDriver and of WebDriver BiDi, which have the same actions. */
export const actionsOf = {
  press(keys: readonly Key[]) {
    const values = keys.map((key) => (key in CODES ? CODES[key as keyof typeof CODES] : key))
    return keyActions([
      ...values.map((value) => ({ type: 'keyDown', value })),
      ...values.toReversed().map((value) => ({ type: 'keyUp', value })),
    ])
  },
  type(text: string) {
    return keyActions(
      [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]),
    )
  },
  tap({ x, y }: Point) {
    const actions = [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y) },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    return [{ type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions }]
  },
}

function keyActions(actions: readonly { readonly type: string; readonly value: string }[]) {
  return [{ type: 'key', id: 'keyboard', actions }]
}
