import encodeQR from 'qr'

export type QrImage = {
  readonly link: string
  readonly color: string
  /** A `data:` URL of a picture. */
  readonly logo: string | undefined
}

type QrPath = {
  /** In modules, with the margin. */
  readonly size: number
  readonly path: string
  /** The width of the white square in the middle, in modules; 0 without a logo. */
  readonly hole: number
}

/** As the standard requires. */
const MARGIN = 4
const PNG_PIXELS = 1_024
/** Of the code's width. A logo of this size hides 4 %; level H repairs 30 %. */
const LOGO_SHARE = 0.2

/** The dark modules as one path, a rectangle for each run in a row. */
export function qrPath({ link, logo }: QrImage): QrPath {
  const ecc = logo === undefined ? 'medium' : 'high'
  const modules = encodeQR(link, 'raw', { ecc, border: MARGIN })
  const size = modules.length
  const width = Math.round((size - 2 * MARGIN) * LOGO_SHARE)
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

export function qrSvg(image: QrImage): Blob {
  return new Blob([svgText(image)], { type: 'image/svg+xml' })
}

export async function qrPng(image: QrImage): Promise<Blob> {
  const { size } = qrPath(image)
  const canvas = document.createElement('canvas')
  // Whole pixels for each module.
  const scale = Math.ceil(PNG_PIXELS / size)
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
