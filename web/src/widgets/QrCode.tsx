import encodeQR from 'qr'

/** A QR code, drawn in the browser: what it holds is sent nowhere. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = qrPath({ link: text, logo: undefined, level: 'M', margin: 4 })
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  )
}

export type QrImage = {
  readonly link: string
  readonly color: string
  /** A `data:` URL of a picture. */
  readonly logo: string | undefined
  /** How much of the code may be unreadable; with a logo at least Q. */
  readonly level: QrLevel
  /** White modules on each side. */
  readonly margin: number
  /** The least width of a PNG; its modules take whole pixels. */
  readonly pixels: number
}

/** As in the API. */
export const QR_LEVELS = ['L', 'M', 'Q', 'H'] as const
export type QrLevel = (typeof QR_LEVELS)[number]
/** 4 is what the standard requires. */
export const QR_MARGINS = [4, 2, 1, 0] as const
export const QR_PIXELS = [256, 512, 1_024, 2_048] as const

/** The levels that repair what a logo hides. */
export const LOGO_LEVELS: readonly QrLevel[] = ['Q', 'H']

const ECC = { L: 'low', M: 'medium', Q: 'quartile', H: 'high' } as const

type QrPath = {
  /** In modules, with the margin. */
  readonly size: number
  readonly path: string
  /** The width of the white square in the middle, in modules; 0 without a logo. */
  readonly hole: number
}

/** The logo's share of the code's width. Such a logo hides 4 %; level Q repairs 25 %, H 30 %. */
const LOGO_SHARE = 0.2

/** The dark modules as one path, a rectangle for each run in a row. */
export function qrPath({ link, logo, level, margin }: Omit<QrImage, 'color' | 'pixels'>): QrPath {
  const modules = withMargin(encodeQR(link, 'raw', { ecc: ECC[level], border: 1 }), margin)
  const size = modules.length
  const width = Math.round((size - 2 * margin) * LOGO_SHARE)
  // As odd as the code, so that it is in the middle.
  const hole = logo === undefined ? 0 : width + ((size - width) % 2)
  const from = (size - hole) / 2
  const isHole = (x: number, y: number) =>
    x >= from && x < from + hole && y >= from && y < from + hole
  let path = ''
  for (const [y, row] of modules.entries()) {
    for (let x = 0; x < size; x += 1) {
      const start = x
      while (x < size && row[x] === true && !isHole(x, y)) x += 1
      if (x > start) path += `M${start} ${y}h${x - start}v1h${start - x}z`
    }
  }
  return { size, path, hole }
}

/** @param bordered a code with a border of one module, the least that the library makes */
function withMargin(bordered: readonly (readonly boolean[])[], margin: number) {
  const code = bordered.slice(1, -1).map((row) => row.slice(1, -1))
  const side = Array.from({ length: margin }, () => false)
  const size = code.length + 2 * margin
  const empty = Array.from({ length: margin }, () => Array.from({ length: size }, () => false))
  return [...empty, ...code.map((row) => [...side, ...row, ...side]), ...empty]
}

export function qrSvg(image: QrImage): Blob {
  return new Blob([svgText(image)], { type: 'image/svg+xml' })
}

export async function qrPng(image: QrImage): Promise<Blob> {
  const { size } = qrPath(image)
  const canvas = document.createElement('canvas')
  // Whole pixels for each module.
  const scale = Math.ceil(image.pixels / size)
  canvas.width = size * scale
  canvas.height = canvas.width
  const picture = new Image(canvas.width, canvas.width)
  picture.src = `data:image/svg+xml,${encodeURIComponent(svgText(image))}`
  await picture.decode()
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.width)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)))
  })
}

function svgText(image: QrImage): string {
  const { size, path, hole } = qrPath(image)
  const from = (size - hole) / 2
  const logo =
    image.logo === undefined
      ? ''
      : `<image href="${image.logo}" x="${from}" y="${from}" width="${hole}" height="${hole}"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="${image.color}" d="${path}"/>${logo}</svg>`
}
