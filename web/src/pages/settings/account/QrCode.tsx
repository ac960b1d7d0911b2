import { qrPath } from '../../../widgets/qr-image.ts'

/** A QR code, drawn in the browser: what it holds is sent nowhere. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = qrPath({ link: text, logo: undefined, level: 'M', margin: 4 })
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  )
}
