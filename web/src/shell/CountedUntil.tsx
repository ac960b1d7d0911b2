import { useFormats, useText } from '../text/use-text.ts'

/** Until when clicks are counted, while counting is behind. */
export function CountedUntil({ instant }: { instant: string | null | undefined }) {
  const t = useText()
  const formats = useFormats()
  if (instant === null || instant === undefined) return null
  return (
    <p className="hint counted-until" role="status">
      {t.common.countedUntil(formats.clock(new Date(instant)))}
    </p>
  )
}
