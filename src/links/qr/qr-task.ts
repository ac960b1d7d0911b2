import type { Color } from '@terse/contract/module-color'
import type { FieldFaults } from '../../platform/failure.ts'

/** The quiet zone that ISO/IEC 18004 requires on each side, in modules. */
export const QR_MARGIN_DEFAULT = 4

export type QrFormat = 'png' | 'svg'

/** All parameters of a picture. */
export type QrTask = {
  readonly text: string
  readonly color: Color
  readonly format: QrFormat
  /** Width and height in pixels; undefined for a size that suits the code. */
  readonly size: number | undefined
  /** White modules around the code. */
  readonly margin: number
  /** Error correction, by the letters of ISO/IEC 18004, the weakest first. */
  readonly level: 'L' | 'M' | 'Q' | 'H'
  /** A PNG of checked dimensions. */
  readonly logo: Uint8Array | undefined
}

/** A picture, or the faults of the parameters by their names. */
export type QrRendering = { readonly picture: Uint8Array } | { readonly faults: FieldFaults }
