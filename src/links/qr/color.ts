import { type Color, isScannable, parseColor } from '@terse/contract/module-color'
import type { Parsed } from '../../platform/failure.ts'

export const BLACK: Color = { red: 0, green: 0, blue: 0 }

/** @param text `#RRGGBB` */
export function parseModuleColor(text: string): Parsed<Color> {
  const color = parseColor(text)
  if (color === undefined) return { fault: { code: 'invalid_color' } }
  if (isScannable(color)) return { value: color }
  return { fault: { code: 'too_pale' } }
}

/** Returns `#rrggbb`. */
export function formatColor({ red, green, blue }: Color): string {
  return `#${Buffer.from([red, green, blue]).toString('hex')}`
}
