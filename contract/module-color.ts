// Loads no zod: the dashboard warns with the same rule while a colour is chosen.

/** An sRGB colour, each channel from 0 to 255. */
export type Color = { readonly red: number; readonly green: number; readonly blue: number }

/**
 * The minimum contrast with white for scanners, by the formula of WCAG 2.2. WCAG requires the same for
 * graphics (success criterion 1.4.11).
 */
const CONTRAST_MIN = 3

/** The weights with which scanners convert to grey: ITU-R BT.709, ITU-R BT.601, and an approximation. */
const GREY_WEIGHTS = [
  [0.2126, 0.7152, 0.0722],
  [0.299, 0.587, 0.114],
  [0.25, 0.5, 0.25],
] as const

/** Scanners read as light what is brighter than half of white, 127.5 of 255; less a safety margin. */
const GREY_MAX = 120

/** @returns undefined unless the text has the form `#RRGGBB` */
export function parseColor(text: string): Color | undefined {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)
  if (hex === null) return undefined
  const [red = 0, green = 0, blue = 0] = hex.slice(1).map((part) => Number.parseInt(part, 16))
  return { red, green, blue }
}

/** Whether scanners read the modules of a QR code in this colour on white. */
export function isScannable(color: Color): boolean {
  return contrastWithWhite(color) >= CONTRAST_MIN && brightestGrey(color) <= GREY_MAX
}

function brightestGrey({ red, green, blue }: Color): number {
  return Math.max(...GREY_WEIGHTS.map(([r, g, b]) => r * red + g * green + b * blue))
}

function contrastWithWhite({ red, green, blue }: Color): number {
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  return 1.05 / (luminance + 0.05)
}

/** Converts an sRGB channel, 0 to 255, to linear light, 0 to 1. */
function linear(channel: number): number {
  const share = channel / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}
