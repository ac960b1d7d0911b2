import type { Click } from '../../src/clicks/click.ts'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import { decodeFrames, FrameBuilder } from '../../src/clicks/journal/record.ts'

/** Encodes one frame of a journal. The clicks must fit. */
export function encodeFrame(clicks: readonly Click[]): Buffer {
  const builder = new FrameBuilder()
  for (const click of clicks) builder.add(click)
  return builder.finish()
}

/** Returns the clicks in the frames of a journal. */
export function clicksInFrames(bytes: Buffer): Click[] {
  const clicks = new ClickColumns()
  decodeFrames(bytes, Number.POSITIVE_INFINITY, clicks)
  return clicksOf(clicks)
}

/** Returns the clicks of columns as objects. */
export function clicksOf(clicks: ClickColumns): Click[] {
  return Array.from(clicks.indexes(), (index) => clicks.click(index))
}
