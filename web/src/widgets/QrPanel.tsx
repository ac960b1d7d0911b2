import { isScannable, parseColor } from '@terse/contract/module-color'
import encodeQR from 'qr'
import { type ChangeEvent, useMemo, useRef, useState } from 'react'
import { useText } from '../text/use-text.ts'
import { Button } from './Button.tsx'
import { Field, Select } from './Field.tsx'
import { saveFile } from './save-file.ts'
import { showError } from './Toasts.tsx'

const COLORS = { ink: '#17191d', green: '#006b4f', blue: '#1d4ed8', red: '#a3173a' } as const

type QrOptions = Pick<QrImage, 'level' | 'margin' | 'pixels'>

/** As the API makes a code when nothing is chosen; the PNG is large enough to print. */
const USUAL: QrOptions = { level: 'M', margin: 4, pixels: 1_024 }

type QrPanelProps = {
  readonly link: string
  /** Whether the key is not known yet: the code shows only how it will look. */
  readonly isExample?: boolean
}

/** The QR code of a short link, in a colour and with a logo, as PNG and SVG. */
export default function QrPanel({ link, isExample = false }: QrPanelProps) {
  const t = useText()
  const [color, setColor] = useState<string>(COLORS.ink)
  const [logo, setLogo] = useState<string>()
  const [options, setOptions] = useState(USUAL)
  const parsed = parseColor(color)
  const level = logo === undefined || LOGO_LEVELS.includes(options.level) ? options.level : 'H'
  const image = useMemo<QrImage>(
    () => ({ ...options, link, color, logo, level }),
    [link, color, logo, options, level],
  )
  return (
    <div className="qr">
      <div className={isExample ? 'code example' : 'code'}>
        <Code image={image} title={isExample ? t.qr.example : t.qr.of(link)} />
      </div>
      <div className="grid gap-3 justify-items-start min-w-0">
        <Colors color={color} onChange={setColor} />
        <div className="flex flex-wrap gap-1.5">
          <Downloads image={image} isOff={isExample} />
          <LogoButton logo={logo} onChange={setLogo} />
        </div>
        <p className="hint">
          {parsed && !isScannable(parsed) ? t.qr.tooPale : isExample ? t.qr.example : t.qr.hint}
        </p>
      </div>
      <details className="qr-more">
        <summary className="link">{t.qr.more}</summary>
        <Options
          options={{ ...options, level }}
          levels={logo === undefined ? QR_LEVELS : LOGO_LEVELS}
          onChange={setOptions}
        />
      </details>
    </div>
  )
}

type ColorsProps = { readonly color: string; readonly onChange: (color: string) => void }

function Colors({ color, onChange }: ColorsProps) {
  const t = useText()
  const isOwn = !Object.values<string>(COLORS).includes(color)
  return (
    <fieldset className="sws" aria-label={t.qr.color}>
      {Object.entries(COLORS).map(([name, value]) => (
        <button
          key={name}
          type="button"
          className={value === color ? 'on' : ''}
          style={{ background: value }}
          aria-label={t.qr.colors[name as keyof typeof COLORS]}
          aria-pressed={value === color}
          onClick={() => onChange(value)}
        />
      ))}
      <input
        type="color"
        className={isOwn ? 'on' : ''}
        value={color}
        aria-label={t.qr.ownColor}
        title={t.qr.ownColor}
        onChange={(event) => onChange(event.target.value)}
      />
    </fieldset>
  )
}

function Code({ image, title }: { image: QrImage; title: string }) {
  const { size, path, hole } = qrPath(image)
  const from = (size - hole) / 2
  return (
    <svg viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img">
      <title>{title}</title>
      <path fill={image.color} d={path} />
      {image.logo !== undefined && (
        <image href={image.logo} x={from} y={from} width={hole} height={hole} />
      )}
    </svg>
  )
}

type OptionsProps = {
  readonly options: QrOptions
  readonly levels: readonly QrOptions['level'][]
  readonly onChange: (options: QrOptions) => void
}

function Options({ options, levels, onChange }: OptionsProps) {
  const t = useText()
  return (
    <div className="grid gap-3 pt-2">
      <Field label={t.qr.pixels}>
        {(control) => (
          <Select
            {...control}
            value={options.pixels}
            onChange={(event) => onChange({ ...options, pixels: Number(event.target.value) })}
          >
            {QR_PIXELS.map((pixels) => (
              <option key={pixels} value={pixels}>
                {t.qr.pixelsOf(pixels)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.qr.margin}>
        {(control) => (
          <Select
            {...control}
            value={options.margin}
            onChange={(event) => onChange({ ...options, margin: Number(event.target.value) })}
          >
            {QR_MARGINS.map((margin) => (
              <option key={margin} value={margin}>
                {t.qr.margins[margin]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.qr.level}>
        {(control) => (
          <Select
            {...control}
            value={options.level}
            onChange={(event) => {
              const level = levels.find((one) => one === event.target.value)
              if (level !== undefined) onChange({ ...options, level })
            }}
          >
            {levels.map((level) => (
              <option key={level} value={level}>
                {t.qr.levels[level]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  )
}

function Downloads({ image, isOff }: { image: QrImage; isOff: boolean }) {
  async function download(kind: 'png' | 'svg') {
    const blob = kind === 'png' ? await qrPng(image) : qrSvg(image)
    const name = image.link.replace(/^https?:\/\//, '').replaceAll(/[^\p{L}\p{N}.-]+/gu, '-')
    saveFile(blob, `${name}.${kind}`)
  }
  return (
    <>
      <Button size="small" disabled={isOff} onClick={() => download('png')}>
        PNG
      </Button>
      <Button size="small" disabled={isOff} onClick={() => download('svg')}>
        SVG
      </Button>
    </>
  )
}

type LogoButtonProps = {
  readonly logo: string | undefined
  readonly onChange: (logo: string | undefined) => void
}

function LogoButton({ logo, onChange }: LogoButtonProps) {
  const t = useText()
  const input = useRef<HTMLInputElement>(null)

  async function read(event: ChangeEvent<HTMLInputElement>) {
    const file = event.target.files?.[0]
    event.target.value = ''
    if (file === undefined) return
    try {
      onChange(await pictureOf(file))
    } catch {
      showError(t.qr.logoFailed)
    }
  }

  return logo === undefined ? (
    <>
      <input ref={input} type="file" accept="image/*" hidden onChange={read} />
      <Button size="small" onClick={() => input.current?.click()}>
        {t.qr.logo}
      </Button>
    </>
  ) : (
    <Button size="small" onClick={() => onChange(undefined)}>
      {t.qr.removeLogo}
    </Button>
  )
}

const LOGO_PIXELS_MAX = 256

/** The picture as a PNG of at most 256 pixels, so that nothing but pixels of the file is used; an SVG is drawn. */
async function pictureOf(file: File): Promise<string> {
  const picture = new Image()
  const address = URL.createObjectURL(file)
  try {
    picture.src = address
    await picture.decode()
    // An SVG may have no size of its own, and none is too small.
    const isDrawing = file.type === 'image/svg+xml'
    const [width, height] = [picture.naturalWidth || 1, picture.naturalHeight || 1]
    const fitting = LOGO_PIXELS_MAX / Math.max(width, height)
    const scale = isDrawing ? fitting : Math.min(1, fitting)
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = Math.max(1, Math.round(height * scale))
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/png')
  } finally {
    URL.revokeObjectURL(address)
  }
}

/** A QR code, drawn in the browser: what it holds is sent nowhere. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = qrPath({ link: text, logo: undefined, level: 'M', margin: 4 })
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  )
}

type QrImage = {
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
const QR_LEVELS = ['L', 'M', 'Q', 'H'] as const
type QrLevel = (typeof QR_LEVELS)[number]
/** 4 is what the standard requires. */
const QR_MARGINS = [4, 2, 1, 0] as const
const QR_PIXELS = [256, 512, 1_024, 2_048] as const

/** The levels that repair what a logo hides. */
const LOGO_LEVELS: readonly QrLevel[] = ['Q', 'H']

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
function qrPath({ link, logo, level, margin }: Omit<QrImage, 'color' | 'pixels'>): QrPath {
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

function qrSvg(image: QrImage): Blob {
  return new Blob([svgText(image)], { type: 'image/svg+xml' })
}

async function qrPng(image: QrImage): Promise<Blob> {
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
