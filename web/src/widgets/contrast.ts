/** What scanners need at least between the modules of a code and its white ground, by common advice: 4 to 1. */
const SCANNABLE_CONTRAST = 4

/** Whether a code of this colour (`#rrggbb`) on white is dark enough for most scanners. */
export function isScannable(color: string): boolean {
  return 1.05 / (luminanceOf(color) + 0.05) >= SCANNABLE_CONTRAST
}

/** The relative luminance (WCAG 2.2): 0 for black, 1 for white. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
